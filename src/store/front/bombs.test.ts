// Requests of few bytes that ask for much work: nested transactions, ranges over everything again and again, one lease among many.
import { beforeEach, expect, test } from 'vitest';
import { txnOperationsMax, txnRangeKeysMax, txnStepsMax } from '../limits.ts';
import { openMemoryStore } from '../memory.ts';
import type { RpcCompare, RpcRange, RpcRequestOp, RpcTxn } from '../rpc/messages.ts';
import type { EmbeddedStore } from '../types.ts';
import { kvHandlers } from './kv.ts';
import { leaseHandlers } from './lease.ts';

let store: EmbeddedStore;
beforeEach(() => {
  store = openMemoryStore();
});

const none = Buffer.alloc(0);
const everything = { key: Buffer.from('\0'), rangeEnd: Buffer.from('\0') };
const wholeRange = { ...everything, limit: 0, revision: 0, sortOrder: 0, sortTarget: 0 } as RpcRange;
const compare = (fields: object): RpcCompare => ({ result: 0, target: 0, key: Buffer.from('/a'), rangeEnd: none, ...fields });
const txn = (fields: Partial<RpcTxn>): RpcTxn => ({ compare: [], success: [], failure: [], ...fields });
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
const nested = (width: number, leaf: RpcRequestOp): RpcTxn =>
  txn({ success: times(width, { requestTxn: txn({ success: times(txnOperationsMax, leaf) }) }) });
const tooMany = 'etcdserver: too many operations in txn request';

/** `count` keys, in as few writes as may be. */
async function fill(count: number): Promise<void> {
  const value = Buffer.from('1');
  for (let at = 0; at < count; at += 5_000) {
    const success = Array.from({ length: Math.min(5_000, count - at) }, (_, i) => ({
      op: 'put' as const,
      key: `/${at + i}`,
      value,
    }));
    await store.txn({ compare: [], success });
  }
}

test('transactions within a transaction count, also those that do nothing', async () => {
  const { Txn } = kvHandlers(store);
  const idle = { requestTxn: txn({}) };
  expect((await Txn(nested(2, idle))).succeeded).toBe(true);
  await expect(Txn(nested(Math.ceil(txnStepsMax / txnOperationsMax), idle))).rejects.toThrow(tooMany);
});

test('what is nested in a transaction counts', async () => {
  const { Txn } = kvHandlers(store);
  const get = { requestRange: { ...wholeRange, key: Buffer.from('/a'), rangeEnd: none } };
  const width = txnStepsMax / txnOperationsMax - 1;
  await expect(Txn(nested(width, get))).resolves.toMatchObject({ succeeded: true });
  await expect(Txn(nested(width + 1, get))).rejects.toThrow(tooMany);
  const comparing = { requestTxn: txn({ compare: times(txnOperationsMax, compare({})) }) };
  await expect(Txn(txn({ success: times(width + 1, comparing) }))).rejects.toThrow(tooMany);
});

test('ranges over everything are few in one transaction, and one is always let in', async () => {
  const { Txn } = kvHandlers(store);
  await fill(txnRangeKeysMax / 2 + 1);
  const range: RpcRequestOp = { requestRange: wholeRange };
  const { responses } = await Txn(txn({ success: [range] }));
  expect(responses[0]?.responseRange?.kvs).toHaveLength(txnRangeKeysMax / 2 + 1);
  await expect(Txn(txn({ success: [range, range] }))).rejects.toThrow(tooMany);
  // `result: 1`: each key was made after revision 0.
  const made = compare({ ...everything, result: 1, target: 1, createRevision: 0 });
  await expect(Txn(txn({ compare: [made] }))).resolves.toMatchObject({ succeeded: true });
  await expect(Txn(txn({ compare: [made, made] }))).rejects.toThrow(tooMany);
  await expect(Txn(txn({ success: times(2, { requestTxn: txn({ success: [range] }) }) }))).rejects.toThrow(tooMany);
});

test('one lease is found without a look at all others', async () => {
  const { LeaseGrant, LeaseTimeToLive } = leaseHandlers(store);
  await LeaseGrant({ TTL: 60, ID: 7 });
  await store.txn({ compare: [], success: [{ op: 'put', key: '/leased', value: none, lease: 7 }] });
  store.leases = () => {
    throw new Error('asked for all of them');
  };
  const keys = [Buffer.from('/leased')];
  expect(await LeaseTimeToLive({ ID: 7, keys: true })).toMatchObject({ grantedTTL: 60, keys });
  expect(await LeaseTimeToLive({ ID: 8, keys: true })).toMatchObject({ TTL: -1 });
});
