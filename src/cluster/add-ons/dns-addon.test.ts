import { expect, test } from 'vitest';
import type { Node } from '#api/core/v1';
import { dnsNodeLabel } from './dns-label.ts';
import { dnsSlices, reconcileDns } from './dns-addon.ts';

const node = (name: string, address: string, { ready = 'True', answers = true } = {}): Node => ({
  metadata: { name, labels: answers ? { [dnsNodeLabel]: 'true' } : {} },
  status: { addresses: [{ type: 'InternalIP', address }], conditions: [{ type: 'Ready', status: ready }] } as Node['status'],
});

test('each node that answers is an endpoint for its own pods first', () => {
  const [slice] = dnsSlices([node('b', '10.0.0.2'), node('a', '10.0.0.1'), node('c', '10.0.0.3', { answers: false })]);
  expect(slice?.endpoints?.map(({ addresses, nodeName, hints }) => [addresses[0], nodeName, hints?.forNodes?.[0]?.name])).toEqual(
    [
      ['10.0.0.1', 'a', 'a'],
      ['10.0.0.2', 'b', 'b'],
    ],
  );
});

test('a node that is not ready stays listed, and is not asked', () => {
  const [slice] = dnsSlices([node('a', '10.0.0.1', { ready: 'Unknown' })]);
  expect(slice?.endpoints?.[0]?.conditions).toEqual({ ready: false, serving: false, terminating: false });
});

test('slices hold a hundred endpoints each', () => {
  const many = Array.from({ length: 250 }, (_, index) => node(`n${index}`, `10.0.${index >> 8}.${index & 255}`));
  expect(dnsSlices(many).map(({ endpoints }) => endpoints?.length)).toEqual([100, 100, 50]);
});

test('slices are made, changed and removed until they equal the nodes', () => {
  const nodes = [node('a', '10.0.0.1')];
  const slices = dnsSlices(nodes);
  expect(reconcileDns({ nodes, slices: [] }).effects.map(({ op }) => op)).toEqual(['create']);
  expect(reconcileDns({ nodes, slices }).effects).toEqual([]);
  expect(reconcileDns({ nodes: [...nodes, node('b', '10.0.0.2')], slices }).effects.map(({ op }) => op)).toEqual(['update']);
  const old = { ...slices[0], metadata: { name: 'older', namespace: 'kube-system' } } as (typeof slices)[number];
  expect(reconcileDns({ nodes, slices: [...slices, old] }).effects.map(({ op }) => op)).toEqual(['delete']);
});
