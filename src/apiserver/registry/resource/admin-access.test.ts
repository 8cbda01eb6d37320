import { errorText } from '#apimachinery/field';
import type { UnknownObject } from '#apimachinery/meta';
import { expect, test } from 'vitest';
import type { ReadOnlyCluster } from '../../storage/read-only-cluster.ts';
import { adminAccessHooks } from './admin-access.ts';

const labels = { 'resource.kubernetes.io/admin-access': 'true' };
const cluster = {
  get: (_: string, __: string, ___: string, name: string) => ({ metadata: { name, labels: name === 'trusted' ? labels : {} } }),
} as unknown as ReadOnlyCluster;
const hooks = adminAccessHooks(cluster);

const refusal =
  'admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace';

const requests = [{ name: 'a' }, { name: 'b', exactly: { adminAccess: true } }];
const claim = (namespace: string, more: object): UnknownObject =>
  ({ metadata: { name: 'c', namespace }, ...more }) as UnknownObject;
const spec = { spec: { devices: { requests } } };
const granted = { status: { allocation: { devices: { results: [{ adminAccess: true }] } } } };

test.each([
  ['a claim', 0, claim('n', spec), undefined, '', 'spec.devices.requests[1].adminAccess'],
  ['a claim where it is allowed', 0, claim('trusted', spec), undefined, '', undefined],
  ['a claim that asks for less', 0, claim('n', { spec: { devices: { requests: [{ name: 'a' }] } } }), undefined, '', undefined],
  ['a changed claim', 0, claim('n', spec), claim('n', spec), '', undefined],
  ['a template', 1, claim('n', { spec: spec }), undefined, '', 'spec.devices.requests[1].adminAccess'],
  ['an allocation', 0, claim('n', granted), claim('n', {}), 'status', 'status.allocation.devices.results[0].adminAccess'],
  ['an allocation that was there', 0, claim('n', granted), claim('n', granted), 'status', undefined],
])('%s', async (_, hook, draft, old, subresource, field) => {
  const errors = (await hooks[hook]?.problems?.(draft, old, { target: { subresource }, dryRun: false } as never)) ?? [];
  expect(errors.map(errorText)).toEqual(field === undefined ? [] : [`${field}: Forbidden: ${refusal}`]);
});
