// Which Services are looked at when a pod changes.
import { expect, test } from 'vitest';
import type { Pod, Service } from '#api/core/v1';
import type { KubeObject } from '#apimachinery/meta';
import type { Cache } from '../types.ts';
import { pods } from './resources.ts';
import { watchServices } from './service-watch.ts';

const service = (name: string, selector: Record<string, string> | undefined): Service => ({
  metadata: { name, namespace: 'ns' },
  spec: { ...(selector && { selector }) },
});
const stored = [
  service('both', { a: '1', b: '2' }),
  service('one', { a: '1' }),
  service('other', { a: '2' }),
  service('empty', {}),
  service('none', undefined),
  { ...service('elsewhere', { a: '1' }), metadata: { name: 'elsewhere', namespace: 'other' } },
];

function keysOf(pod: Pod): string[] {
  const [ofServices, ofPods] = watchServices();
  const indexers = Object.entries(ofServices?.indexers ?? {});
  const cache = {
    list: (_resource: unknown, namespace: string) => stored.filter(({ metadata }) => metadata.namespace === namespace),
    byIndex: (_resource: unknown, index: string, value: string) =>
      stored.filter((one) => indexers.some(([name, values]) => name === index && values(one as KubeObject).includes(value))),
  };
  expect(ofPods?.resource).toBe(pods);
  return [...(ofPods?.keys?.(pod as KubeObject, undefined, cache as unknown as Cache) ?? [])].sort();
}

test('a pod of thousands of labels concerns the same Services as one of few', () => {
  const labels = { a: '1', b: '2' };
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, 'v']));
  const pod = (all: Record<string, string>): Pod => ({ metadata: { name: 'p', namespace: 'ns', labels: all } });
  expect(keysOf(pod(labels))).toEqual(['ns/both', 'ns/one']);
  expect(keysOf(pod({ ...many, ...labels }))).toEqual(['ns/both', 'ns/one']);
  expect(keysOf(pod(many))).toEqual([]);
});
