// Reading ranges, at the newest state or at a revision of the past.
import { CompactedError, FutureRevisionError, InvalidRequestError } from '../errors.ts';
import { rangeOf } from '../keys.ts';
import type { KeyValue, RangeRequest, RangeResponse } from '../types.ts';
import { alive, emptyValue, isLive, versionAt } from './record.ts';
import type { KeyRecord } from './record.ts';
import type { SortedIndex } from './sorted-index.ts';

/** The state that a range is read from. */
export interface ReadView {
  readonly index: SortedIndex<KeyRecord>;
  /** `head`: newest accepted; `durable`: newest durable. */
  readonly from: 'head' | 'durable';
  /** Revision of that state. */
  readonly revision: number;
  readonly compactedRevision: number;
}

/** Throws what etcd answers to a range that cannot be read. */
export function checkRange(request: RangeRequest, view: Pick<ReadView, 'revision' | 'compactedRevision'>): void {
  if (request.key === '') throw new InvalidRequestError('etcdserver: key is not provided');
  const revision = request.revision ?? 0;
  if (revision > view.revision) throw new FutureRevisionError();
  if (revision > 0 && revision < view.compactedRevision) throw new CompactedError(view.compactedRevision);
}

export function readRange(request: RangeRequest, view: ReadView): RangeResponse {
  checkRange(request, view);
  const past = request.revision !== undefined && request.revision > 0 && request.revision < view.revision;
  const revision = past ? (request.revision as number) : view.revision;
  const select = past
    ? (record: KeyRecord) => alive(versionAt(record[view.from], revision))
    : (record: KeyRecord) => alive(record[view.from]);
  const range = rangeOf(request.key, request.rangeEnd);
  const limit = request.limit && request.limit > 0 ? request.limit : Number.POSITIVE_INFINITY;
  if (!range) {
    const record = view.index.get(request.key);
    const kv = record && select(record);
    const kvs = kv && !request.countOnly ? [request.keysOnly ? withoutValue(kv) : kv] : [];
    return { kvs, more: false, count: kv ? 1 : 0, revision };
  }
  // Live items are counted per chunk; only reads of the past or of pending writes have to look at every key.
  const counted = !past && view.from === 'durable' ? view.index.liveCount(range) : undefined;
  const kvs: KeyValue[] = [];
  let count = 0;
  if (request.countOnly && counted !== undefined) return { kvs, more: false, count: counted, revision };
  view.index.walk(range, (record) => {
    const kv = select(record);
    if (kv) {
      if (!request.countOnly && count < limit) kvs.push(request.keysOnly ? withoutValue(kv) : kv);
      count++;
    }
    return counted === undefined || count < limit;
  });
  const total = counted ?? count;
  return { kvs, more: !request.countOnly && total > kvs.length, count: total, revision };
}

const withoutValue = (kv: KeyValue): KeyValue => ({ ...kv, value: emptyValue });

/** All live keys of the durable state, in key order. */
export function liveKvs(index: SortedIndex<KeyRecord>): KeyValue[] {
  const kvs: KeyValue[] = [];
  index.walk({ start: '', end: undefined }, (record) => {
    if (isLive(record)) kvs.push((record.durable as NonNullable<KeyRecord['durable']>).kv);
    return true;
  });
  return kvs;
}
