// From etcd's messages to the store's requests, and back.
import { compareResults, compareTargets, eventTypes } from '../rpc/descriptors.ts';
import { keyOf, rangeEndOf } from '../rpc/bytes.ts';
import type { RpcCompare, RpcDeleteRange, RpcEvent, RpcHeader, RpcKeyValue, RpcRange } from '../rpc/messages.ts';
import { InvalidRequestError } from '../errors.ts';
import type { CompareTarget, KeyValue, RangeRequest, StoreEvent } from '../types.ts';

/** Ids of the one member of the one cluster that an embedded store is. */
const clusterId = 0x5a60;
export const memberId = 1;

export const headerAt = (revision: number): RpcHeader => ({ clusterId, memberId, revision, raftTerm: 1 });

/** A store key range from the two byte fields of a message. */
export function rangeFields({ key, rangeEnd }: { key: Buffer; rangeEnd: Buffer }): { key: string; rangeEnd?: string } {
  if (key.length === 0) throw new InvalidRequestError('etcdserver: key is not provided');
  const end = rangeEndOf(rangeEnd);
  return { key: keyOf(key), ...(end !== undefined && { rangeEnd: end }) };
}

export const toRpcKv = (kv: KeyValue): RpcKeyValue => ({
  key: Buffer.from(kv.key),
  value: asBuffer(kv.value),
  createRevision: kv.createRevision,
  modRevision: kv.modRevision,
  version: kv.version,
  lease: kv.lease,
});

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const toRpcEvent = ({ type, kv, prevKv }: StoreEvent): RpcEvent => ({
  type: eventTypes[type],
  kv: toRpcKv(kv),
  prevKv: prevKv ? toRpcKv(prevKv) : null,
});

const sortTargets: readonly ((kv: KeyValue) => number | string | Buffer)[] = [
  (kv) => kv.key,
  (kv) => kv.version,
  (kv) => kv.createRevision,
  (kv) => kv.modRevision,
  (kv) => Buffer.from(kv.value),
];
const descend = 2;

/** The store has no order but the keys' and no revision filters: those requests are read whole and finished here. */
export const needsFinish = (range: RpcRange): boolean =>
  range.sortTarget !== 0 ||
  range.sortOrder === descend ||
  range.minModRevision > 0 ||
  range.maxModRevision > 0 ||
  range.minCreateRevision > 0 ||
  range.maxCreateRevision > 0;

export function toRangeRequest(range: RpcRange): RangeRequest {
  if (range.sortOrder < 0 || range.sortOrder > descend || !sortTargets[range.sortTarget]) {
    throw new InvalidRequestError('etcdserver: invalid sort option');
  }
  const whole = needsFinish(range);
  return {
    ...rangeFields(range),
    revision: Math.max(0, range.revision),
    limit: whole ? 0 : range.limit,
    keysOnly: whole ? false : range.keysOnly,
    countOnly: range.countOnly,
  };
}

/** Applies filters, order, limit and `keysOnly` to a range that was read whole. */
export function finishRange(range: RpcRange, kvs: readonly KeyValue[]): { kvs: KeyValue[]; more: boolean } {
  const within = (value: number, min: number, max: number): boolean => value >= min && (max <= 0 || value <= max);
  const kept = kvs.filter(
    (kv) =>
      within(kv.modRevision, range.minModRevision, range.maxModRevision) &&
      within(kv.createRevision, range.minCreateRevision, range.maxCreateRevision),
  );
  const target = sortTargets[range.sortTarget];
  // Keys come in order already (string order would be UTF-16's); any other target sorts ascending unless told otherwise.
  if (target && range.sortTarget !== 0) kept.sort((a, b) => compareValues(target(a), target(b)));
  if (range.sortOrder === descend) kept.reverse();
  const limited = range.limit > 0 ? kept.slice(0, range.limit) : kept;
  const more = limited.length < kept.length;
  return { kvs: range.keysOnly ? limited.map((kv) => ({ ...kv, value: Buffer.alloc(0) })) : limited, more };
}

function compareValues(a: number | string | Buffer, b: number | string | Buffer): number {
  if (Buffer.isBuffer(a) && Buffer.isBuffer(b)) return Buffer.compare(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

export const toDelete = (request: RpcDeleteRange) => ({ op: 'delete' as const, ...rangeFields(request), prevKv: request.prevKv });

/** Whether one key (undefined: missing) satisfies a comparison; a missing key has no value and never satisfies one of values. */
export function satisfies(compare: RpcCompare, kv: KeyValue | undefined): boolean {
  const order = orderAgainst(compare, kv);
  switch (compare.result) {
    case compareResults['=']:
      return order === 0;
    case compareResults['!=']:
      return order !== undefined && order !== 0;
    case compareResults['>']:
      return order !== undefined && order > 0;
    case compareResults['<']:
      return order !== undefined && order < 0;
    default:
      return true;
  }
}

/** Sign of actual minus asked; undefined when there is nothing to compare. */
function orderAgainst(compare: RpcCompare, kv: KeyValue | undefined): number | undefined {
  if (compare.target === compareTargets.value) {
    return kv && Buffer.compare(asBuffer(kv.value), compare.value ?? Buffer.alloc(0));
  }
  const names = Object.entries(compareTargets) as [CompareTarget, number][];
  const target = names.find(([, number]) => number === compare.target)?.[0];
  if (!target) throw new InvalidRequestError('etcdserver: unknown compare target');
  return (kv?.[target] ?? 0) - (compare[target] ?? 0);
}
