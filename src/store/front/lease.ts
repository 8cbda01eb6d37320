// The Lease service on an embedded store.
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { InvalidRequestError, LeaseNotFoundError } from '../errors.ts';
import { toRpcFailure } from '../rpc/errors.ts';
import type { RpcLease } from '../rpc/messages.ts';
import type { EmbeddedStore } from '../types.ts';
import { headerAt } from './convert.ts';

export type KeepAliveStream = ServerDuplexStream<{ ID: number }, RpcLease>;

export interface LeaseHandlers {
  LeaseGrant(request: { TTL: number; ID: number }): Promise<object>;
  LeaseRevoke(request: { ID: number }): Promise<object>;
  LeaseTimeToLive(request: { ID: number; keys: boolean }): Promise<object>;
  LeaseLeases(): Promise<object>;
}

export function leaseHandlers(store: EmbeddedStore): LeaseHandlers {
  const header = () => headerAt(store.revision());
  return {
    async LeaseGrant({ TTL, ID }) {
      // Numbers hold ids exactly only up to 2^53; the ids that this store chooses are small.
      if (!Number.isSafeInteger(ID)) throw new InvalidRequestError('etcdserver: lease ID is out of range');
      const { id, ttlSeconds } = await store.leaseGrant(TTL, ID);
      return { header: header(), ID: id, TTL: ttlSeconds };
    },
    async LeaseRevoke({ ID }) {
      await store.leaseRevoke(ID);
      return { header: header() };
    },
    async LeaseTimeToLive({ ID, keys }) {
      const lease = store.lease(ID);
      if (!lease) return { header: header(), ID, TTL: -1 };
      const { ttlSeconds, remainingSeconds } = lease;
      const held = keys ? [...lease.keys].sort().map((key) => Buffer.from(key)) : [];
      return { header: header(), ID, TTL: remainingSeconds, grantedTTL: ttlSeconds, keys: held };
    },
    async LeaseLeases() {
      return { header: header(), leases: store.leases().map(({ id }) => ({ ID: id })) };
    },
  };
}

/** Answers each keep-alive in order; an unknown lease is a time of 0, not an error. */
export function serveKeepAlive(store: EmbeddedStore, stream: KeepAliveStream): void {
  let answered = Promise.resolve();
  stream.on('data', ({ ID }: { ID: number }) => {
    answered = answered.then(() => answer(ID));
  });
  stream.on('end', () => void answered.then(() => stream.end()));
  stream.on('error', () => {});
  const answer = async (ID: number): Promise<void> => {
    try {
      const { ttlSeconds } = await store.leaseKeepAlive(ID);
      stream.write({ header: headerAt(store.revision()), ID, TTL: ttlSeconds });
    } catch (error) {
      if (error instanceof LeaseNotFoundError) stream.write({ header: headerAt(store.revision()), ID, TTL: 0 });
      else stream.emit('error', toRpcFailure(error));
    }
  };
}
