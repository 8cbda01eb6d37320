import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubeObject } from '#apimachinery/meta';
import { Indexer } from './indexer.ts';

const owned = (name: string, uids: readonly number[]): KubeObject => ({
  metadata: { name, ownerReferences: uids.map((uid) => ({ apiVersion: 'v1', kind: 'Node', name: 'n', uid: String(uid) })) },
});

test('an object is found by the values it has now, and by no others, however many they are', () => {
  const uids = fc.uniqueArray(fc.nat(30), { maxLength: 30 });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b'), uids), { maxLength: 6 }), (writes) => {
      const indexer = new Indexer<KubeObject>((_, __, error) => {
        throw error;
      });
      indexer.addIndexers({ owner: ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid) });
      for (const [name, values] of writes) indexer.set(owned(name, values));
      const last = new Map(writes);
      for (let uid = 0; uid <= 30; uid++) {
        const expected = [...last].filter(([, values]) => values.includes(uid)).map(([name]) => name);
        const found = indexer.byIndex('owner', String(uid)).map(({ metadata }) => metadata.name);
        expect(found.sort()).toEqual(expected.sort());
      }
    }),
  );
});
