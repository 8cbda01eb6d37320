// Keys and errors on their way over the wire.
import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import {
  ClosedError,
  CompactedError,
  FutureRevisionError,
  InvalidRequestError,
  LeaseExistsError,
  LeaseNotFoundError,
  RequestTooLargeError,
  UnavailableError,
} from '../errors.ts';
import { orderOf } from '../keys.ts';
import { keyOf, rangeEndOf } from './bytes.ts';
import { fromRpcFailure, toRpcFailure, wasNotSent } from './errors.ts';

test.each([
  [new CompactedError(7), status.OUT_OF_RANGE],
  [new FutureRevisionError(), status.OUT_OF_RANGE],
  [new LeaseNotFoundError(), status.NOT_FOUND],
  [new LeaseExistsError(), status.FAILED_PRECONDITION],
  [new RequestTooLargeError(), status.INVALID_ARGUMENT],
  [new InvalidRequestError('etcdserver: key is not provided'), status.INVALID_ARGUMENT],
  [new InvalidRequestError('etcdserver: too large lease TTL'), status.OUT_OF_RANGE],
  [new UnavailableError('etcdserver: no leader'), status.UNAVAILABLE],
])('%s keeps its type and message', (error, code) => {
  const failure = toRpcFailure(error);
  expect(failure).toEqual({ code, details: error.message });
  const back = fromRpcFailure(failure, 7);
  expect([back.name, back.message]).toEqual([error.name, error.message]);
});

test('a store that has stopped looks like a member that has stopped', () => {
  const failure = toRpcFailure(new ClosedError('store is closed'));
  expect(failure).toEqual({ code: status.UNAVAILABLE, details: 'etcdserver: server stopped' });
  expect(fromRpcFailure(failure, 0)).toBeInstanceOf(UnavailableError);
});

test('only a request that was never sent may be repeated blindly', () => {
  const notConnected = 'No connection established. Last error: connect ECONNREFUSED 127.0.0.1:1';
  expect(wasNotSent({ code: status.UNAVAILABLE, details: notConnected })).toBe(true);
  expect(wasNotSent({ code: status.UNAVAILABLE, details: 'Connection dropped' })).toBe(false);
  expect(wasNotSent({ code: status.DEADLINE_EXCEEDED, details: notConnected })).toBe(false);
});

test('a key that is not UTF-8 is refused; a byte order mark is part of a key', () => {
  expect(() => keyOf(Buffer.from([0x2f, 0xff]))).toThrow(InvalidRequestError);
  expect(keyOf(Buffer.from('\ufeffa'))).toBe('\ufeffa');
});

test.each([
  ['2f61', ['/`'], ['/a', '/b']],
  ['2f80', ['/', '/a', '/\x7f'], ['/\x80', '/é']],
  ['2fff', ['/', '/é', '/\u{10ffff}zz'], ['0', '\u{10ffff}']],
  ['2fc4', ['/é', '/\xff'], ['/\u0100', '0']],
  ['2fedb0', ['/\ud7ff'], ['/\ue000', '/\u{10000}']],
  ['2ff48f', ['/\uffff', '/\u{1f600}'], ['/\u{10ffff}', '0']],
])('range end %s separates the same keys as its bytes do', (hex, below, above) => {
  const bytes = Buffer.from(hex, 'hex');
  const end = orderOf(rangeEndOf(bytes) ?? '');
  for (const key of below) {
    expect([orderOf(key) < end, Buffer.compare(Buffer.from(key), bytes) < 0], key).toEqual([true, true]);
  }
  for (const key of above) {
    expect([orderOf(key) < end, Buffer.compare(Buffer.from(key), bytes) < 0], key).toEqual([false, false]);
  }
});

test('no range end, and the one that means all', () => {
  expect(rangeEndOf(Buffer.alloc(0))).toBeUndefined();
  expect(rangeEndOf(Buffer.from([0]))).toBe('\0');
});
