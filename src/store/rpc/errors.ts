// etcd's errors on the wire: gRPC status and message of each (go.etcd.io/etcd/api/v3/v3rpc/rpctypes).
import { status } from '@grpc/grpc-js';
import {
  ClosedError,
  CompactedError,
  FutureRevisionError,
  InvalidRequestError,
  LeaseExistsError,
  LeaseNotFoundError,
  RequestTooLargeError,
  StoreError,
  UnavailableError,
} from '../errors.ts';

export interface RpcFailure {
  code: status;
  details: string;
}

/** What the front answers for an error of the store. */
export function toRpcFailure(error: unknown): RpcFailure {
  if (!(error instanceof Error)) return { code: status.UNKNOWN, details: String(error) };
  const { message: details } = error;
  if (error instanceof CompactedError || error instanceof FutureRevisionError) return { code: status.OUT_OF_RANGE, details };
  if (error instanceof LeaseNotFoundError) return { code: status.NOT_FOUND, details };
  if (error instanceof LeaseExistsError) return { code: status.FAILED_PRECONDITION, details };
  if (error instanceof InvalidRequestError) {
    return { code: details === 'etcdserver: too large lease TTL' ? status.OUT_OF_RANGE : status.INVALID_ARGUMENT, details };
  }
  if (error instanceof RequestTooLargeError) return { code: status.INVALID_ARGUMENT, details };
  if (error instanceof ClosedError) return { code: status.UNAVAILABLE, details: 'etcdserver: server stopped' };
  if (error instanceof UnavailableError) return { code: status.UNAVAILABLE, details };
  return { code: status.UNKNOWN, details };
}

/** What the client throws for a failure on the wire. `compactedRevision`: the best known one. */
export function fromRpcFailure(failure: unknown, compactedRevision: number): StoreError {
  if (failure instanceof StoreError) return failure;
  const { code, details = String(failure) } = failure as Partial<RpcFailure>;
  const options = { cause: failure };
  if (details.includes('required revision has been compacted')) return new CompactedError(compactedRevision);
  if (details.includes('required revision is a future revision')) return new FutureRevisionError();
  if (details.includes('requested lease not found')) return new LeaseNotFoundError();
  if (details.includes('lease already exists')) return new LeaseExistsError();
  if (details.includes('request is too large') || /received message larger than/i.test(details)) {
    return new RequestTooLargeError();
  }
  if (code === status.INVALID_ARGUMENT || code === status.OUT_OF_RANGE) return new InvalidRequestError(details, options);
  if (code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED || code === status.CANCELLED) {
    return new UnavailableError(details, options);
  }
  return new StoreError(details, options);
}

/** Nothing was sent: the request can be given to another member, whatever it does. */
export const wasNotSent = (failure: unknown): boolean =>
  (failure as Partial<RpcFailure>).code === status.UNAVAILABLE &&
  /No connection established|Name resolution failed|ECONNREFUSED/.test((failure as Partial<RpcFailure>).details ?? '');

export const isUnavailable = (failure: unknown): boolean => {
  const { code } = failure as Partial<RpcFailure>;
  return code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED;
};
