// Connections to the members of an etcd cluster: one gRPC channel each, one of them in use, the next one when it fails
// (go.etcd.io/etcd/client/v3 for which requests may be repeated).
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import type { ChannelCredentials, ChannelOptions, ClientDuplexStream, MethodDefinition, ServiceError } from '@grpc/grpc-js';
import type { Clock, Logger } from '#utils';
import { ClosedError, StoreError, UnavailableError } from '../errors.ts';
import {
  keepAliveTimeMs,
  keepAliveTimeoutMs,
  reconnectDelayMsMax,
  reconnectDelayMsMin,
  requestTimeoutMs,
  statusTimeoutMs,
} from '../limits.ts';
import { isUnavailable, wasNotSent } from '../rpc/errors.ts';
import type { RpcStatus } from '../rpc/messages.ts';
import type { ServiceName } from '../rpc/services.ts';
import { serviceDefinitions } from '../rpc/services.ts';
import { hasExactProgress } from './version.ts';

export interface EtcdTls {
  /** Certificates in PEM. `ca` absent: the machine's. `cert` and `key` for client authentication. */
  ca?: string | Uint8Array;
  cert?: string | Uint8Array;
  key?: string | Uint8Array;
  /** Name to expect in the members' certificates instead of the address. */
  serverName?: string;
}

export interface EndpointsOptions {
  /** `https://host:port`, `http://host:port`, or `host:port` (TLS when `tls` is given). */
  endpoints: readonly string[];
  tls: EtcdTls | undefined;
  clock: Clock;
  logger: Logger;
}

export class Endpoints {
  readonly #clients: readonly Client[];
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** By member: whether progress requests are answered in their place among the events, as far as known. */
  readonly #exactProgress = new Map<number, boolean>();
  #current = 0;
  #closed = false;

  constructor({ endpoints, tls, clock, logger }: EndpointsOptions) {
    if (endpoints.length === 0) throw new StoreError('no etcd endpoint given');
    this.#clock = clock;
    this.#logger = logger;
    this.names = endpoints.join(', ');
    this.#clients = endpoints.map((endpoint) => connect(endpoint, tls));
  }

  /** As they were given, for people. */
  readonly names: string;

  get count(): number {
    return this.#clients.length;
  }

  /**
   * One request. Repeated on other members when it surely was not carried out, or when `repeatable` and the member is unavailable.
   * Rejects with the gRPC error.
   */
  call<T>(service: ServiceName, method: string, request: object, repeatable: boolean, limitMs = requestTimeoutMs): Promise<T> {
    return this.#repeat(repeatable, limitMs, (member, timeoutMs) => this.#unary<T>(member, service, method, request, timeoutMs));
  }

  /** One request and its answer over a method that is a stream; always repeatable. */
  exchange<T>(service: ServiceName, method: string, request: object): Promise<T> {
    return this.#repeat(true, requestTimeoutMs, (_, timeoutMs) => {
      const { stream } = this.stream<object, T>(service, method, timeoutMs);
      return new Promise<T>((resolve, reject) => {
        stream.once('data', (response: T) => {
          resolve(response);
          stream.cancel();
        });
        stream.on('error', reject);
        stream.on('end', () => reject(new UnavailableError('etcdserver: stream ended without an answer')));
        stream.write(request);
      });
    });
  }

  /** A stream to the member in use; `member` is what `moveOn` wants to hear when it breaks. */
  stream<Request, Response>(
    service: ServiceName,
    method: string,
    timeoutMs?: number,
  ): { stream: ClientDuplexStream<Request, Response>; member: number } {
    if (this.#closed) throw new ClosedError('store is closed');
    const member = this.#current;
    const { path, requestSerialize, responseDeserialize } = definition(service, method);
    const metadata = new Metadata();
    // A member that has lost its cluster ends the stream instead of keeping it silent.
    metadata.set('hasleader', 'true');
    const stream = this.#client(member).makeBidiStreamRequest(
      path,
      requestSerialize as (value: Request) => Buffer,
      responseDeserialize as (bytes: Buffer) => Response,
      metadata,
      timeoutMs === undefined ? {} : { deadline: this.#clock.now() + timeoutMs },
    );
    return { stream, member };
  }

  /** Learns the version of a member, which tells what its watches can do. One that does not say counts as old. Never rejects. */
  async learnVersion(member = this.#current): Promise<void> {
    try {
      const { version } = await this.#unary<RpcStatus>(member, 'Maintenance', 'Status', {}, statusTimeoutMs);
      this.#exactProgress.set(member, hasExactProgress(version));
    } catch (error) {
      this.#exactProgress.delete(member);
      this.#logger.debug('Version of an etcd member not learned', { member, err: error });
    }
  }

  /** Whether the member is known to answer progress requests in their place among the events. */
  hasExactProgress(member: number): boolean {
    return this.#exactProgress.get(member) ?? false;
  }

  /** `member` failed: the next one is used from now on. */
  moveOn(member: number): void {
    if (member === this.#current) this.#current = (member + 1) % this.#clients.length;
  }

  close(): void {
    this.#closed = true;
    for (const client of this.#clients) client.close();
  }

  async #repeat<T>(repeatable: boolean, limitMs: number, attempt: (member: number, timeoutMs: number) => Promise<T>): Promise<T> {
    const deadline = this.#clock.monotonic() + limitMs;
    let delayMs = reconnectDelayMsMin;
    for (let attempts = 1; ; attempts++) {
      const used = this.#current;
      try {
        return await attempt(used, deadline - this.#clock.monotonic());
      } catch (error) {
        if (!isUnavailable(error) || this.#closed) throw error;
        this.moveOn(used);
        const mayRepeat = repeatable || wasNotSent(error);
        if (!mayRepeat || this.#clock.monotonic() + delayMs >= deadline) throw error;
        if (attempts % this.#clients.length === 0) {
          await this.#clock.sleep(delayMs);
          delayMs = Math.min(delayMs * 2, reconnectDelayMsMax);
        }
      }
    }
  }

  #client(member: number): Client {
    return this.#clients[member] as Client;
  }

  #unary<T>(member: number, service: ServiceName, method: string, request: object, timeoutMs: number): Promise<T> {
    if (this.#closed) return Promise.reject(new ClosedError('store is closed'));
    if (timeoutMs <= 0) return Promise.reject(new UnavailableError('etcdserver: request timed out'));
    const { path, requestSerialize, responseDeserialize } = definition(service, method);
    return new Promise<T>((resolve, reject) => {
      this.#client(member).makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        new Metadata(),
        // A gRPC deadline is wall-clock time by definition.
        { deadline: this.#clock.now() + timeoutMs },
        (error: ServiceError | null, response?: object) => (error ? reject(error) : resolve(response as T)),
      );
    });
  }
}

const definition = (service: ServiceName, method: string): MethodDefinition<object, object> =>
  serviceDefinitions()[service][method] as MethodDefinition<object, object>;

function connect(endpoint: string, tls: EtcdTls | undefined): Client {
  const [, scheme, address = ''] = /^(?:(https?):\/\/)?([^/]+)\/?$/.exec(endpoint) ?? [];
  if (!address) throw new StoreError(`etcd endpoint ${JSON.stringify(endpoint)} is not a URL`);
  const secure = scheme === 'https' || (scheme === undefined && tls !== undefined);
  const options: ChannelOptions = {
    'grpc.keepalive_time_ms': keepAliveTimeMs,
    'grpc.keepalive_timeout_ms': keepAliveTimeoutMs,
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    'grpc.initial_reconnect_backoff_ms': reconnectDelayMsMin,
    'grpc.max_reconnect_backoff_ms': reconnectDelayMsMax,
    // Channels of two stores in one process never share a connection: closing one must not touch the other.
    'grpc.use_local_subchannel_pool': 1,
    ...(secure && tls?.serverName && { 'grpc.ssl_target_name_override': tls.serverName }),
  };
  return new Client(address, secure ? secureCredentials(tls) : credentials.createInsecure(), options);
}

function secureCredentials(tls: EtcdTls | undefined): ChannelCredentials {
  const pem = (value: string | Uint8Array | undefined): Buffer | null =>
    value === undefined ? null : Buffer.from(value as Uint8Array);
  return credentials.createSsl(pem(tls?.ca), pem(tls?.key), pem(tls?.cert));
}
