// The KV service on an embedded store. A transaction's comparisons are evaluated against the newest accepted state and its operations
// handed in during the same turn, so that values, ranges and nested transactions, which the store's own compares do not know, stay atomic.
import { InvalidRequestError } from '../errors.ts';
import { txnOperationsMax, txnRangeKeysMax, txnStepsMax } from '../limits.ts';
import { keyOf } from '../rpc/bytes.ts';
import type {
  RpcCompaction,
  RpcCompare,
  RpcDeleteRange,
  RpcDeleteRangeResponse,
  RpcPut,
  RpcPutResponse,
  RpcRange,
  RpcRangeResponse,
  RpcRequestOp,
  RpcResponseOp,
  RpcTxn,
  RpcTxnResponse,
} from '../rpc/messages.ts';
import type { EmbeddedStore, KeyValue, Operation, OperationResponse, RangeResponse } from '../types.ts';
import { finishRange, headerAt, needsFinish, rangeFields, satisfies, toDelete, toRangeRequest, toRpcKv } from './convert.ts';

export interface KvHandlers {
  Range(request: RpcRange): Promise<RpcRangeResponse>;
  Put(request: RpcPut): Promise<RpcPutResponse>;
  DeleteRange(request: RpcDeleteRange): Promise<RpcDeleteRangeResponse>;
  Txn(request: RpcTxn): Promise<RpcTxnResponse>;
  Compact(request: RpcCompaction): Promise<object>;
}

/** Turns the answers of the flat list of store operations, taken in order, into the answer of one request. */
type Finish = (take: () => OperationResponse, revision: number) => RpcResponseOp;

export function kvHandlers(store: EmbeddedStore): KvHandlers {
  /** Runs one request as a transaction of its own. */
  const single = async (request: RpcRequestOp): Promise<RpcResponseOp> => {
    const operations: Operation[] = [];
    const finish = plan({ store, operations, spend: budget(store) }, request);
    const { responses, revision } = await store.txn({ compare: [], success: operations });
    return finish(taker(responses), revision);
  };
  return {
    async Range(request) {
      const response = await store.range(toRangeRequest(request));
      return rangeResponse(request, response, store.revision());
    },
    Put: async (request) => (await single({ requestPut: request })).responsePut as RpcPutResponse,
    DeleteRange: async (request) => (await single({ requestDeleteRange: request })).responseDeleteRange as RpcDeleteRangeResponse,
    Txn: async (request) => (await single({ requestTxn: request })).responseTxn as RpcTxnResponse,
    async Compact({ revision }) {
      await store.compact(revision);
      return { header: headerAt(store.revision()) };
    },
  };
}

const taker = (responses: readonly OperationResponse[]): (() => OperationResponse) => {
  let next = 0;
  return () => responses[next++] as OperationResponse;
};

/** One request while it is planned. */
interface Planning {
  store: EmbeddedStore;
  operations: Operation[];
  /**
   * Counts one more step, and throws when it is one too many. A comparison or an operation looks at a key or at a range; a transaction inside a
   * transaction looks at nothing itself.
   */
  spend(step?: { key: Buffer; rangeEnd?: Buffer }): void;
}

/** All of a transaction happens in one turn, and what is nested in it may be a thousand times what one level may hold. */
function budget(store: EmbeddedStore): Planning['spend'] {
  let [steps, ranges, keys] = [0, 0, 0];
  return ({ key, rangeEnd = Buffer.alloc(0) } = { key: Buffer.alloc(0) }) => {
    if (rangeEnd.length > 0) {
      ranges++;
      keys += store.rangeSync({ ...rangeFields({ key, rangeEnd }), countOnly: true }).count;
    }
    if (++steps > txnStepsMax || (ranges > 1 && keys > txnRangeKeysMax)) throw tooMany();
  };
}

const tooMany = (): Error => new InvalidRequestError('etcdserver: too many operations in txn request');

/** Adds the store operations of `request`; answers how to read their responses. */
function plan(planning: Planning, request: RpcRequestOp): Finish {
  const { store, operations, spend } = planning;
  const { requestRange, requestPut, requestDeleteRange, requestTxn } = request;
  spend(requestRange ?? requestPut ?? requestDeleteRange);
  if (requestRange) return planRange(requestRange, operations);
  if (requestPut) return planPut(store, requestPut, operations);
  if (requestDeleteRange) return planDelete(requestDeleteRange, operations);
  if (requestTxn) return planTxn(planning, requestTxn);
  throw new InvalidRequestError('etcdserver: key is not provided');
}

function planRange(request: RpcRange, operations: Operation[]): Finish {
  operations.push({ op: 'range', request: toRangeRequest(request) });
  return (take, revision) => {
    const taken = take();
    return taken.op === 'range' ? { responseRange: rangeResponse(request, taken.response, revision) } : {};
  };
}

function planPut(store: EmbeddedStore, request: RpcPut, operations: Operation[]): Finish {
  const { key } = rangeFields({ key: request.key, rangeEnd: Buffer.alloc(0) });
  if (request.ignoreValue && request.value.length > 0) throw new InvalidRequestError('etcdserver: value is provided');
  if (request.ignoreLease && request.lease !== 0) throw new InvalidRequestError('etcdserver: lease is provided');
  const keep = request.ignoreValue || request.ignoreLease;
  const [current] = keep ? store.rangeAccepted({ key }).kvs : [];
  if (keep && !current) throw new InvalidRequestError('etcdserver: key not found');
  if (!Number.isSafeInteger(request.lease)) throw new InvalidRequestError('etcdserver: lease ID is out of range');
  if (request.prevKv) operations.push({ op: 'range', request: { key } });
  operations.push({
    op: 'put',
    key,
    value: request.ignoreValue && current ? current.value : request.value,
    lease: request.ignoreLease && current ? current.lease : request.lease,
  });
  return (take, revision) => {
    const before = request.prevKv ? take() : undefined;
    take();
    const [previous] = before?.op === 'range' ? before.response.kvs : [];
    return { responsePut: { header: headerAt(revision), prevKv: previous ? toRpcKv(previous) : null } };
  };
}

function planDelete(request: RpcDeleteRange, operations: Operation[]): Finish {
  operations.push(toDelete(request));
  return (take, revision) => {
    const taken = take();
    const { deleted, prevKvs } = taken.op === 'delete' ? taken : { deleted: 0, prevKvs: [] };
    return { responseDeleteRange: { header: headerAt(revision), deleted, prevKvs: prevKvs.map(toRpcKv) } };
  };
}

function planTxn(planning: Planning, request: RpcTxn): Finish {
  for (const list of [request.compare, request.success, request.failure]) {
    if (list.length > txnOperationsMax) throw tooMany();
  }
  const succeeded = request.compare.every((compare) => {
    planning.spend(compare);
    return holds(planning.store, compare);
  });
  const finishes = (succeeded ? request.success : request.failure).map((operation) => plan(planning, operation));
  return (take, revision) => {
    const responses = finishes.map((finish) => finish(take, revision));
    return { responseTxn: { header: headerAt(revision), succeeded, responses } };
  };
}

function holds(store: EmbeddedStore, compare: RpcCompare): boolean {
  if (compare.rangeEnd.length === 0) {
    const [kv] = store.rangeAccepted({ key: keyOf(compare.key) }).kvs;
    return satisfies(compare, kv);
  }
  const { kvs } = store.rangeAccepted(rangeFields(compare));
  return kvs.length === 0 ? satisfies(compare, undefined) : kvs.every((kv: KeyValue) => satisfies(compare, kv));
}

function rangeResponse(request: RpcRange, response: RangeResponse, revision: number): RpcRangeResponse {
  const { kvs, more } = needsFinish(request) && !request.countOnly ? finishRange(request, response.kvs) : response;
  return { header: headerAt(revision), kvs: kvs.map(toRpcKv), more, count: response.count };
}
