import { expect, it } from 'vitest';
import type { Node } from '#api/core/v1';
import { forbidden, notFound } from '#apimachinery/errors';
import type { KubeClient } from '#client';
import { assertNameFree, assertOwnNode, NameTakenError } from './name-taken.ts';

const taken =
  'a Node with name "debian" and status "Ready" already exists in the cluster. You must delete the existing Node or change the name of this new joining Node';
const conditions = (status: 'True' | 'False' | 'Unknown') => [{ type: 'Ready', status }];
const nodes = { group: '', resource: 'nodes' };
const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }];

/** A cluster whose answer to every reading is this. */
const answering = (answer: Node['status'] | Error): KubeClient => {
  const get = (name: string): Promise<Node> =>
    answer instanceof Error ? Promise.reject(answer) : Promise.resolve({ metadata: { name }, ...(answer && { status: answer }) });
  return { resource: () => ({ get }) } as unknown as KubeClient;
};

it.each([
  ['a Node that is Ready', answering({ conditions: conditions('True'), addresses }), undefined, taken],
  ['one with another address', answering({ conditions: conditions('True'), addresses }), '10.0.0.2', taken],
  ['an answer that nobody can judge', answering(forbidden(nodes, 'debian', 'no')), undefined, 'cannot get Node "debian": '],
])('refuses %s', async (_what, client, own, message) => {
  await expect(assertNameFree(client, 'debian', own)).rejects.toThrow(message);
});

it.each([
  ['nobody', answering(notFound(nodes, 'debian')), undefined],
  ['a machine that is gone', answering({ conditions: conditions('Unknown'), addresses }), undefined],
  ['a Node that never was', answering(undefined), undefined],
  ['the machine itself', answering({ conditions: conditions('True'), addresses }), '10.0.0.1'],
])('takes the name of %s', async (_what, client, own) => {
  await expect(assertNameFree(client, 'debian', own)).resolves.toBeUndefined();
});

it('finds out that another machine has joined at the same time under its name', () => {
  const own = (nodeIp: string, status?: Node['status']) => () =>
    assertOwnNode({ metadata: { name: 'debian' }, ...(status && { status }) }, { nodeName: 'debian', nodeIp });
  expect(own('10.0.0.1', { addresses })).not.toThrow();
  expect(own('10.0.0.1')).not.toThrow();
  expect(own('10.0.0.2', { addresses })).toThrow(NameTakenError);
  expect(own('10.0.0.2', { addresses })).toThrow('the machine at 10.0.0.1 has joined at the same time as the node debian');
});
