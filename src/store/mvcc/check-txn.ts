// Request checks with etcd's rules and messages (etcd server/etcdserver/api/v3rpc, rpctypes).
import { InvalidRequestError, LeaseNotFoundError, RequestTooLargeError } from '../errors.ts';
import { keyMatcher, orderOf } from '../keys.ts';
import { requestBytesMax } from '../limits.ts';
import type { Operation, TxnRequest } from '../types.ts';

type Put = Extract<Operation, { op: 'put' }>;

/** Throws InvalidRequestError or RequestTooLargeError for a transaction that etcd would not accept. */
export function checkTxn(request: TxnRequest): void {
  for (const compare of request.compare) checkKey(compare.key);
  const bytes = checkBranch(request.success) + (request.failure ? checkBranch(request.failure) : 0);
  if (bytes > requestBytesMax) throw new RequestTooLargeError();
}

/** Throws LeaseNotFoundError when a put names a lease that does not exist. */
export function checkLeases(operations: readonly Operation[], exists: (id: number) => boolean): void {
  for (const operation of operations) {
    if (operation.op === 'put' && operation.lease && !exists(operation.lease)) throw new LeaseNotFoundError();
  }
}

function checkKey(key: string): void {
  if (key === '') throw new InvalidRequestError('etcdserver: key is not provided');
}

/** Answers the approximate size of the branch. */
function checkBranch(operations: readonly Operation[]): number {
  let bytes = 0;
  let puts = 0;
  for (const operation of operations) {
    if (operation.op === 'range') {
      checkKey(operation.request.key);
      continue;
    }
    checkKey(operation.key);
    bytes += operation.key.length;
    if (operation.op === 'put') {
      puts++;
      bytes += operation.value.byteLength;
    }
  }
  if (puts > 0 && operations.length > 1) checkDuplicates(operations);
  return bytes;
}

/** One revision holds at most one change of a key. */
function checkDuplicates(operations: readonly Operation[]): void {
  const keys = new Set<string>();
  const puts = operations.filter((operation): operation is Put => operation.op === 'put');
  for (const { key } of puts) {
    if (keys.has(key)) throw duplicateKey();
    keys.add(key);
  }
  for (const operation of operations) {
    if (operation.op !== 'delete') continue;
    const matches = keyMatcher(operation.key, operation.rangeEnd);
    if (puts.some(({ key }) => matches(key, orderOf(key)))) throw duplicateKey();
  }
}

const duplicateKey = (): InvalidRequestError => new InvalidRequestError('etcdserver: duplicate key given in txn request');

/** What a transaction's operations ask of the log; deletions alone free space in the end. */
export function weigh(operations: readonly Operation[]): { writes: boolean; bytes: number; frees: boolean } {
  let writes = false;
  let frees = true;
  let bytes = 0;
  for (const operation of operations) {
    if (operation.op === 'range') continue;
    writes = true;
    bytes += operation.key.length;
    if (operation.op === 'delete') continue;
    frees = false;
    bytes += operation.value.byteLength;
  }
  return { writes, bytes, frees };
}
