// Between the store's requests and etcd's messages.
import { StoreError } from '../errors.ts';
import { compareResults, compareTargets, eventTypes } from '../rpc/descriptors.ts';
import type {
  RpcCompare,
  RpcDeleteRange,
  RpcEvent,
  RpcKeyValue,
  RpcPut,
  RpcRange,
  RpcRangeResponse,
  RpcResponseOp,
  RpcTxnResponse,
} from '../rpc/messages.ts';
import type {
  Compare,
  KeyValue,
  Operation,
  OperationResponse,
  RangeRequest,
  RangeResponse,
  StoreEvent,
  TxnRequest,
  TxnResponse,
} from '../types.ts';

export interface RpcTxnMessage {
  compare: Partial<RpcCompare>[];
  success: EncodedOp[];
  failure: EncodedOp[];
}

type EncodedOp =
  | { requestRange: Partial<RpcRange> }
  | { requestPut: Partial<RpcPut> }
  | { requestDeleteRange: Partial<RpcDeleteRange> };

/**
 * The `rangeEnd` field, left out for a single key: an empty one that is present on the wire means "all keys from here on" to etcd
 * (Go tells nil from empty), and protobufjs writes whatever field is given.
 */
export const rangeEndField = (rangeEnd: string | undefined): { rangeEnd?: Buffer } =>
  rangeEnd === undefined || rangeEnd === '' ? {} : { rangeEnd: Buffer.from(rangeEnd) };

export const toRpcRange = ({ key, rangeEnd, revision, limit, keysOnly, countOnly }: RangeRequest): Partial<RpcRange> => ({
  key: Buffer.from(key),
  ...rangeEndField(rangeEnd),
  revision: revision ?? 0,
  limit: limit ?? 0,
  keysOnly: keysOnly ?? false,
  countOnly: countOnly ?? false,
});

function toRpcOp(operation: Operation): EncodedOp {
  switch (operation.op) {
    case 'put':
      return {
        requestPut: { key: Buffer.from(operation.key), value: Buffer.from(operation.value), lease: operation.lease ?? 0 },
      };
    case 'delete': {
      const { key, rangeEnd, prevKv = false } = operation;
      return { requestDeleteRange: { key: Buffer.from(key), ...rangeEndField(rangeEnd), prevKv } };
    }
    case 'range':
      return { requestRange: toRpcRange(operation.request) };
  }
}

const toRpcCompare = ({ key, target, result, value }: Compare): Partial<RpcCompare> => ({
  key: Buffer.from(key),
  result: compareResults[result],
  target: compareTargets[target],
  [target]: value,
});

export const toRpcTxn = ({ compare, success, failure = [] }: TxnRequest): RpcTxnMessage => ({
  compare: compare.map(toRpcCompare),
  success: success.map(toRpcOp),
  failure: failure.map(toRpcOp),
});

const fromRpcKv = (kv: RpcKeyValue): KeyValue => ({
  key: kv.key.toString(),
  value: kv.value,
  createRevision: kv.createRevision,
  modRevision: kv.modRevision,
  version: kv.version,
  lease: kv.lease,
});

export function fromRpcRange(request: RangeRequest, response: RpcRangeResponse, current: number): RangeResponse {
  const { kvs, more, count } = response;
  return { kvs: kvs.map(fromRpcKv), more, count, revision: request.revision || current };
}

export function fromRpcTxn(request: TxnRequest, { succeeded, responses, header }: RpcTxnResponse): TxnResponse {
  const operations = succeeded ? request.success : (request.failure ?? []);
  const revision = header?.revision ?? 0;
  return { succeeded, revision, responses: operations.map((operation, i) => fromRpcOp(operation, responses[i], revision)) };
}

function fromRpcOp(operation: Operation, response: RpcResponseOp | undefined, revision: number): OperationResponse {
  if (operation.op === 'put' && response?.responsePut) return { op: 'put' };
  if (operation.op === 'delete' && response?.responseDeleteRange) {
    const { deleted, prevKvs } = response.responseDeleteRange;
    return { op: 'delete', deleted, prevKvs: prevKvs.map(fromRpcKv) };
  }
  if (operation.op === 'range' && response?.responseRange) {
    return { op: 'range', response: fromRpcRange(operation.request, response.responseRange, revision) };
  }
  throw new StoreError('etcd answered a transaction with other operations than it was asked for');
}

export function fromRpcEvent({ type, kv, prevKv }: RpcEvent): StoreEvent {
  const event: StoreEvent = { type: type === eventTypes.DELETE ? 'DELETE' : 'PUT', kv: fromRpcKv(kv) };
  if (prevKv) event.prevKv = fromRpcKv(prevKv);
  return event;
}
