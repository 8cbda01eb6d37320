// A store that is a real etcd cluster, spoken to over its v3 gRPC API. The same contract as the embedded ones, with what a network
// adds: UnavailableError when nobody answers, and then a write may or may not have happened.
import { systemClock, systemRng } from '#host';
import type { Clock, Logger, Rng } from '#utils';
import { silentLogger } from '#utils';
import { ClosedError, InvalidRequestError, LeaseNotFoundError, UnavailableError } from '../errors.ts';
import type { StoreError } from '../errors.ts';
import { connectTimeoutMs, openComplaintMs, statsAgeMsMax } from '../limits.ts';
import { fromRpcFailure } from '../rpc/errors.ts';
import type { RpcHeader, RpcLease, RpcRangeResponse, RpcStatus, RpcTxnResponse } from '../rpc/messages.ts';
import type { ServiceName } from '../rpc/services.ts';
import type {
  RangeRequest,
  RangeResponse,
  Store,
  StoreUsage,
  StoreWatch,
  TxnRequest,
  TxnResponse,
  WatchRequest,
} from '../types.ts';
import { fromRpcRange, fromRpcTxn, toRpcRange, toRpcTxn } from './convert.ts';
import { Endpoints } from './endpoints.ts';
import type { EtcdTls } from './endpoints.ts';
import { closedWatch, EtcdWatch } from './watch.ts';

export type { EtcdTls } from './endpoints.ts';

export interface EtcdStoreOptions {
  /** `https://host:port`, `http://host:port`, or `host:port` (TLS when `tls` is given). One of them is used until it fails. */
  endpoints: readonly string[];
  tls?: EtcdTls;
  clock?: Clock;
  logger?: Logger;
  /** Chooses lease ids. */
  rng?: Rng;
  /** Longest wait for a first answer. Default 20 s. */
  connectTimeoutMs?: number;
}

/** Rejects with UnavailableError when no member answers in time. */
export async function open(options: EtcdStoreOptions): Promise<Store> {
  const store = new EtcdStore(options);
  try {
    await store.connect(options.connectTimeoutMs ?? connectTimeoutMs);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

class EtcdStore implements Store {
  readonly kind = 'etcd';
  readonly consistency = 'ask';
  readonly #endpoints: Endpoints;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #rng: Rng;
  readonly #watches = new Set<EtcdWatch>();
  #revision = 0;
  #compacted = 0;
  #stats: StoreUsage = { bytes: 0, bytesInUse: 0, keys: 0 };
  #statsAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor({ endpoints, tls, clock = systemClock(), logger = silentLogger, rng = systemRng() }: EtcdStoreOptions) {
    this.#clock = clock;
    this.#logger = logger;
    this.#rng = rng;
    this.#endpoints = new Endpoints({ endpoints, tls, clock, logger });
  }

  /** Waits for a first answer of a member that has a leader. */
  async connect(timeoutMs: number): Promise<void> {
    const request = toRpcRange({ key: '\0', countOnly: true });
    const servers = this.#endpoints.names;
    const silent = this.#clock.setTimer(openComplaintMs, () => this.#logger.warn('etcd does not answer yet', { servers }));
    try {
      await this.#guard(() => this.#endpoints.call<RpcRangeResponse>('KV', 'Range', request, true, timeoutMs));
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      throw new UnavailableError(`etcd (${servers}) does not answer: ${error.message.replace(/\. Resolution note: $/, '')}`, {
        cause: error,
      });
    } finally {
      silent.cancel();
    }
    await this.#endpoints.learnVersion();
  }

  revision(): number {
    return this.#revision;
  }

  compactedRevision(): number {
    return this.#compacted;
  }

  async range(request: RangeRequest): Promise<RangeResponse> {
    if (request.key === '') throw new InvalidRequestError('etcdserver: key is not provided');
    const known = Math.max(this.#compacted, request.revision ?? 0);
    const response = await this.#call<RpcRangeResponse>('KV', 'Range', toRpcRange(request), true, known);
    return fromRpcRange(request, response, response.header?.revision ?? 0);
  }

  async txn(request: TxnRequest): Promise<TxnResponse> {
    const readOnly = [...request.success, ...(request.failure ?? [])].every(({ op }) => op === 'range');
    return fromRpcTxn(request, await this.#call<RpcTxnResponse>('KV', 'Txn', toRpcTxn(request), readOnly));
  }

  watch(request: WatchRequest): StoreWatch {
    if (this.#closed) return closedWatch(request);
    const watch = new EtcdWatch({
      request,
      endpoints: this.#endpoints,
      clock: this.#clock,
      logger: this.#logger,
      seen: (revision) => this.#seen(revision),
      compacted: (revision) => this.#sawCompaction(revision),
      current: async () => (await this.range({ key: '\0', countOnly: true })).revision,
      over: (ended) => this.#watches.delete(ended),
    });
    this.#watches.add(watch);
    return watch;
  }

  async compact(revision: number): Promise<void> {
    await this.#call('KV', 'Compact', { revision }, false);
    this.#sawCompaction(revision);
  }

  async leaseGrant(ttlSeconds: number, id = 0): Promise<{ id: number; ttlSeconds: number }> {
    // etcd would choose a 64-bit id, which a number cannot hold.
    const ID = id === 0 ? 1 + this.#rng.int(Number.MAX_SAFE_INTEGER - 1) : id;
    const granted = await this.#call<RpcLease>('Lease', 'LeaseGrant', { TTL: Math.ceil(ttlSeconds), ID }, false);
    return { id: granted.ID, ttlSeconds: granted.TTL };
  }

  async leaseKeepAlive(id: number): Promise<{ ttlSeconds: number }> {
    const request = (): Promise<RpcLease> => this.#endpoints.exchange<RpcLease>('Lease', 'LeaseKeepAlive', { ID: id });
    const { TTL } = await this.#guard(request);
    if (TTL <= 0) throw new LeaseNotFoundError();
    return { ttlSeconds: TTL };
  }

  async leaseRevoke(id: number): Promise<void> {
    await this.#call('Lease', 'LeaseRevoke', { ID: id }, false);
  }

  /** The last figures known; asking also asks the cluster for newer ones. Bytes are those of the member in use. */
  stats(): StoreUsage {
    const now = this.#clock.monotonic();
    if (now - this.#statsAt > statsAgeMsMax && !this.#closed) {
      this.#statsAt = now;
      this.#refreshStats().catch((error: unknown) => this.#logger.debug('Failed to read etcd statistics', { err: error }));
    }
    return this.#stats;
  }

  writeRefusal(): Error | undefined {
    return this.#closed ? closed() : undefined;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const watch of this.#watches) watch.end(closed());
    this.#endpoints.close();
  }

  async #refreshStats(): Promise<void> {
    const [status, all] = await Promise.all([
      this.#call<RpcStatus>('Maintenance', 'Status', {}, true),
      this.range({ key: '\0', rangeEnd: '\0', countOnly: true }),
    ]);
    this.#stats = { bytes: status.dbSize, bytesInUse: status.dbSizeInUse, keys: all.count };
  }

  #call<T extends { header: RpcHeader | null }>(
    service: ServiceName,
    method: string,
    request: object,
    repeatable: boolean,
    compacted = this.#compacted,
  ): Promise<T> {
    return this.#guard(() => this.#endpoints.call<T>(service, method, request, repeatable), compacted);
  }

  async #guard<T extends { header: RpcHeader | null }>(request: () => Promise<T>, compacted = this.#compacted): Promise<T> {
    if (this.#closed) throw closed();
    try {
      const response = await request();
      this.#seen(response.header?.revision ?? 0);
      return response;
    } catch (error) {
      throw this.#closed ? closed() : fromRpcFailure(error, compacted);
    }
  }

  #seen(revision: number): void {
    if (revision > this.#revision) this.#revision = revision;
  }

  #sawCompaction(revision: number): void {
    if (revision > this.#compacted) this.#compacted = revision;
  }
}

const closed = (): StoreError => new ClosedError('store is closed');
