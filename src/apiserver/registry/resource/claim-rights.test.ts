import { errorText } from '#apimachinery/field';
import type { UnknownObject } from '#apimachinery/meta';
import { expect, test } from 'vitest';
import type { Attributes } from '../../request/request.ts';
import { claimRightsHook } from './claim-rights.ts';

const target = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceclaims', subresource: 'status' };
const onNode = {
  nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }] },
};
const device = (driver: string, data: number) => ({ driver, pool: 'p', device: 'd', data });
const claim = (status?: object): UnknownObject => ({ metadata: { name: 'c', namespace: 'ns' }, ...(status && { status }) });

/** What is refused to somebody who may do what `rights` names: `verb subresource name@namespace`. */
async function refused(old: object | undefined, now: object, rights: readonly string[], extra = {}): Promise<string[]> {
  const asked = ({ verb, target: at }: Attributes): string => `${verb} ${at?.subresource} ${at?.name}@${at?.namespace}`;
  const authorizer = { authorize: (one: Attributes) => ({ allowed: rights.includes(asked(one)), reason: 'no rule' }) };
  const user = { name: 'system:serviceaccount:ns:driver', groups: [], extra };
  const write = { request: { user, verb: 'update' }, target: { ...target, namespace: 'ns', name: 'c' } } as never;
  const errors = (await claimRightsHook(authorizer).problems?.(claim(now), claim(old), write)) ?? [];
  return errors.map(errorText);
}

const binding =
  'status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="update" permission: resourceclaims.resource.k8s.io is forbidden: User "system:serviceaccount:ns:driver" cannot update resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope: no rule';

test('an allocation or a reservation needs a right of its own', async () => {
  expect(await refused(undefined, { allocation: onNode }, [])).toEqual([binding]);
  expect(
    await refused({ allocation: onNode }, { allocation: onNode, reservedFor: [{ resource: 'pods', name: 'a', uid: 'u' }] }, []),
  ).toEqual([binding]);
  expect(await refused({ allocation: onNode }, {}, [])).toEqual([binding]);
  expect(await refused(undefined, { allocation: onNode }, ['update binding @'])).toEqual([]);
  expect(await refused({ allocation: onNode }, { allocation: onNode }, [])).toEqual([]);
});

test('each driver tells of its own devices, on its node or anywhere', async () => {
  const old = { allocation: onNode, devices: [device('a.example', 1), device('b.example', 1)] };
  const now = { allocation: onNode, devices: [device('a.example', 2)] };
  const [first, second] = await refused(old, now, []);
  expect(first).toContain(
    'status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[arbitrary-node:update]" permission: resourceclaims.resource.k8s.io "a.example" is forbidden',
  );
  expect(second).toContain('"b.example" is forbidden');
  expect(
    await refused(old, now, ['arbitrary-node:update driver a.example@ns', 'arbitrary-node:update driver b.example@ns']),
  ).toEqual([]);
  const near = ['associated-node:update driver a.example@ns', 'associated-node:update driver b.example@ns'];
  expect(await refused(old, now, near)).toHaveLength(2);
  expect(await refused(old, now, near, { 'authentication.kubernetes.io/node-name': ['n1'] })).toEqual([]);
  expect(await refused(old, now, near, { 'authentication.kubernetes.io/node-name': ['n2'] })).toHaveLength(2);
});
