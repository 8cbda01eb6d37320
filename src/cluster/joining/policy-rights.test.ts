import { expect, it } from 'vitest';
import type { Node } from '#api/core/v1';
import { reconcileRights } from './policy-rights.ts';

const node: Node = { metadata: { name: 'a', uid: '1' } };
const name = 'system:kube-network-policy:a';

it('gives what enforces policies on a node its rights, and takes them when the Node is gone', () => {
  const [given] = reconcileRights({ name: 'a', node, binding: undefined }).effects;
  expect(given).toMatchObject({
    op: 'create',
    object: {
      metadata: { name },
      roleRef: { kind: 'ClusterRole', name: 'system:kube-network-policy' },
      subjects: [{ kind: 'User', name }],
    },
  });
  const binding = (given as { object: object }).object as Parameters<typeof reconcileRights>[0]['binding'];
  expect(reconcileRights({ name: 'a', node, binding }).effects).toEqual([]);
  expect(reconcileRights({ name: 'a', node: undefined, binding }).effects).toMatchObject([{ op: 'delete', ref: { name } }]);
  expect(reconcileRights({ name: 'a', node: undefined, binding: undefined }).effects).toEqual([]);
});
