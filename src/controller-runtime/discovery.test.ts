import { expect, test } from 'vitest';
import type { Transport } from '#apimachinery/transport';
import { readDiscovery } from './discovery.ts';

const good = { resources: [{ name: 'pods', kind: 'Pod', namespaced: true, verbs: ['list'] }] };
const groups = [{ name: 'other', versions: [{ groupVersion: 'other/v1' }], preferredVersion: { groupVersion: 'other/v1' } }];

test.each([
  'null',
  '{}',
  '{"resources":null}',
  '{"resources":{"length":1}}',
  '{"resources":[null]}',
  '{"resources":[{"name":5,"kind":"A","verbs":[]}]}',
  '{"resources":[{"name":"a","kind":"A","verbs":"list"}]}',
  '{"resources":[{"name":"a","kind":"A","verbs":[{}]}]}',
  'nonsense',
])('a group whose server answers nonsense fails alone: %s', async (answer) => {
  const documents: Record<string, string> = {
    '/apis': JSON.stringify({ groups }),
    '/api/v1': JSON.stringify(good),
    '/apis/other/v1': answer,
  };
  const raw = (_method: string, path: string) => Promise.resolve({ status: 200, text: documents[path] ?? '' });
  const { resources, failed } = await readDiscovery({ raw } as unknown as Transport);
  expect(resources.map(({ resource }) => resource)).toEqual(['pods']);
  expect(failed.map(({ groupVersion }) => groupVersion)).toEqual(['other/v1']);
});
