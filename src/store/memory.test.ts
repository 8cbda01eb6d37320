// The memory store through the contract suite, with time that only moves when told to.
import { expect, test } from 'vitest';
import { openMemoryStore } from './index.ts';
import { storeSuite } from './suite/index.ts';
import { manualClock } from './suite/manual-clock.ts';

storeSuite('memory', {
  async open() {
    const clock = manualClock();
    const store = openMemoryStore({ clock });
    return { store, advance: async (milliseconds) => clock.advance(milliseconds), release: () => store.close() };
  },
});

const put = (key: string, value = key) => ({ compare: [], success: [{ op: 'put' as const, key, value: Buffer.from(value) }] });

test('a fresh store is at revision 1', async () => {
  const store = openMemoryStore();
  expect([store.revision(), store.compactedRevision(), store.stats()]).toEqual([1, 0, { bytes: 0, bytesInUse: 0, keys: 0 }]);
  expect((await store.txn(put('/a'))).revision).toBe(2);
});

test('what is accepted is decided at once, and visible once durable', async () => {
  const store = openMemoryStore();
  const first = store.txn({ compare: [{ key: '/a', target: 'version', result: '=', value: 0 }], success: put('/a').success });
  const second = store.txn({ compare: [{ key: '/a', target: 'version', result: '=', value: 0 }], success: put('/a').success });
  expect(store.rangeSync({ key: '/a' }).count).toBe(0);
  expect([(await first).succeeded, (await second).succeeded]).toEqual([true, false]);
  expect(store.rangeSync({ key: '/a' }).count).toBe(1);
});

test('watchers hear of a write before its caller does', async () => {
  const store = openMemoryStore();
  const order: string[] = [];
  store.watch({ key: '/a', onEvents: () => order.push('watcher'), onEnd() {} });
  await store.txn(put('/a')).then(() => order.push('caller'));
  expect(order).toEqual(['watcher', 'caller']);
});

test('a fork begins where the snapshot was taken and goes its own way', async () => {
  const store = openMemoryStore();
  await store.txn(put('/a', '1'));
  await store.txn(put('/b', '1'));
  await store.txn(put('/a', '2'));
  const { id } = await store.leaseGrant(60);
  await store.txn({ compare: [], success: [{ op: 'put', key: '/leased', value: Buffer.from('1'), lease: id }] });
  const fork = openMemoryStore({ snapshot: store.snapshot() });
  expect(fork.revision()).toBe(store.revision());
  expect(fork.rangeSync({ key: '\0', rangeEnd: '\0' }).kvs).toEqual(store.rangeSync({ key: '\0', rangeEnd: '\0' }).kvs);
  expect((await fork.txn(put('/b', '2'))).revision).toBe(store.revision() + 1);
  expect(store.rangeSync({ key: '/b' }).kvs[0]?.version).toBe(1);
  await fork.leaseRevoke(id);
  expect([fork.stats().keys, store.stats().keys]).toEqual([2, 3]);
  expect(() => fork.rangeSync({ key: '/a', revision: 2 })).toThrow('required revision has been compacted');
});
