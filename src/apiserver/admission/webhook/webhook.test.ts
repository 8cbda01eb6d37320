import { expect, test } from 'vitest';
import type { AdmissionRequest } from '../../registry/generic/admission.ts';
import { checkedResponse } from './call.ts';
import { denial } from './plugin.ts';
import { matchesRule } from '../matching.ts';

const request = (more: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  operation: 'CREATE',
  user: { name: 'u', groups: [] },
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  subresource: '',
  kind: 'Deployment',
  namespace: 'ns',
  name: 'd',
  options: {},
  dryRun: false,
  warn() {},
  ...more,
});
const all = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'] };

test.each([
  [{ ...all, resources: ['*'] }, {}, true],
  [{ ...all, resources: ['*'] }, { subresource: 'scale' }, false],
  [{ ...all, resources: ['*/*'] }, { subresource: 'scale' }, true],
  [{ ...all, resources: ['deployments/scale'] }, { subresource: 'scale' }, true],
  [{ ...all, resources: ['deployments'], operations: ['DELETE'] }, {}, false],
  [{ ...all, resources: ['deployments'], apiGroups: [''] }, {}, false],
  [{ ...all, resources: ['*'], scope: 'Cluster' }, {}, false],
  [{ ...all, resources: ['*'], scope: 'Cluster' }, { group: '', resource: 'namespaces' }, true],
  [{ ...all, resources: ['*'], scope: 'Namespaced' }, { group: '', resource: 'namespaces' }, false],
])('rule %j for %j: %s', (rule, more, expected) => {
  expect(matchesRule(rule, request(more))).toBe(expected);
});

const review = (response: object | undefined, more: object = {}) =>
  ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response, ...more }) as never;

test.each([
  [review(undefined), true, 'webhook response was absent'],
  [review({ uid: 'x', allowed: true }), true, 'expected response.uid="u", got "x"'],
  [
    review({ uid: 'u', allowed: true }, { apiVersion: 'v1' }),
    true,
    'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /v1, Kind=AdmissionReview',
  ],
  [review({ uid: 'u', allowed: true, patch: 'W10=' }), true, 'webhook returned response.patch but not response.patchType'],
  [
    review({ uid: 'u', allowed: true, patch: 'W10=', patchType: 'JSONPatch' }),
    false,
    'validating webhook may not return response.patch',
  ],
])('answer %# is invalid', (answer, mutating, message) => {
  expect(() => checkedResponse(answer, 'u', mutating)).toThrow(`received invalid webhook response: ${message}`);
});

test('a denial keeps the webhook’s own words and code', () => {
  expect(denial('w', undefined).status).toMatchObject({
    code: 400,
    message: 'admission webhook "w" denied the request without explanation',
  });
  expect(denial('w', { code: 403, message: 'no', reason: 'Forbidden' }).status).toMatchObject({
    code: 403,
    reason: 'Forbidden',
    message: 'admission webhook "w" denied the request: no',
  });
  expect(denial('w', { reason: 'Forbidden' }).status.message).toBe('admission webhook "w" denied the request: Forbidden');
});
