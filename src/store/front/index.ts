// etcd's v3 gRPC API on an embedded store, for etcdctl and any other client of etcd
// (https://etcd.io/docs/v3.6/learning/api/). One member, always its own leader; no auth service and no membership changes.
import { Server } from '@grpc/grpc-js';
import type { handleUnaryCall, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { systemClock } from '#host';
import type { Clock, Logger } from '#utils';
import { silentLogger } from '#utils';
import { connectionIdleMs, grpcOverheadBytes, keepAliveMs, requestBytesMax } from '../limits.ts';
import { toRpcFailure } from '../rpc/errors.ts';
import type { ServiceName } from '../rpc/services.ts';
import { serviceDefinitions } from '../rpc/services.ts';
import type { EmbeddedStore } from '../types.ts';
import { type EtcdFrontTls, listenForBoth } from './listen.ts';
import { headerAt, memberId } from './convert.ts';
import { kvHandlers } from './kv.ts';
import { leaseHandlers, serveKeepAlive } from './lease.ts';
import type { KeepAliveStream } from './lease.ts';
import { maintenanceHandlers, serveSnapshot } from './maintenance.ts';
import type { SnapshotStream } from './maintenance.ts';
import { serveWatch } from './watch.ts';
import type { WatchStream } from './watch.ts';

export type { EtcdFrontTls } from './listen.ts';

export interface EtcdFrontOptions {
  store: EmbeddedStore;
  /** Address to listen on. Default 127.0.0.1. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** Absent: no encryption, only sensible on loopback. */
  tls?: EtcdFrontTls;
  /** Name of the member. Default `default`, as etcd's. */
  name?: string;
  /** URLs that clients are told to use. Default: the one that is listened on. */
  advertised?: readonly string[];
  clock?: Clock;
  logger?: Logger;
}

export interface EtcdFront {
  readonly port: number;
  /** URL for clients. */
  readonly endpoint: string;
  /** Ends all connections; the store stays open. */
  close(): Promise<void>;
}

/** Rejects when the address cannot be listened on or the certificates cannot be used. */
export async function serveEtcd(options: EtcdFrontOptions): Promise<EtcdFront> {
  const { store, host = '127.0.0.1', port = 0, tls, name = 'default', clock = systemClock(), logger = silentLogger } = options;
  const server = new Server({
    'grpc.max_receive_message_length': requestBytesMax + grpcOverheadBytes,
    'grpc.max_send_message_length': -1,
    // Peers that say nothing are asked, and given up (etcd: --grpc-keepalive-interval, --grpc-keepalive-timeout); so are idle connections.
    'grpc.keepalive_time_ms': keepAliveMs.interval,
    'grpc.keepalive_timeout_ms': keepAliveMs.timeout,
    'grpc.max_connection_idle_ms': connectionIdleMs,
  });
  let endpoint = '';
  const header = () => headerAt(store.revision());
  const definitions = serviceDefinitions();
  const add = (service: ServiceName, unary: object, streams: UntypedServiceImplementation = {}): void => {
    server.addService(definitions[service], { ...unaryHandlers(definitions[service], unary, logger), ...streams });
  };
  add('KV', kvHandlers(store));
  add('Watch', {}, { Watch: (stream: WatchStream) => serveWatch(store, clock, stream) });
  add('Lease', leaseHandlers(store), { LeaseKeepAlive: (stream: KeepAliveStream) => serveKeepAlive(store, stream) });
  add('Cluster', {
    MemberList: async () => ({
      header: header(),
      members: [{ ID: memberId, name, peerURLs: [endpoint], clientURLs: options.advertised ?? [endpoint], isLearner: false }],
    }),
  });
  add('Maintenance', maintenanceHandlers(store), { Snapshot: (stream: SnapshotStream) => void serveSnapshot(store, stream) });
  const listener = await listenForBoth({ server, host, port, ...(tls && { tls }) }, () => health(store));
  endpoint = `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${listener.port}`;
  return {
    port: listener.port,
    endpoint,
    async close() {
      server.forceShutdown();
      await listener.close();
    },
  };
}

/** gRPC handlers for the methods of `service` that `handlers` has. */
function unaryHandlers(service: ServiceDefinition, handlers: object, logger: Logger): UntypedServiceImplementation {
  const served: Record<string, handleUnaryCall<object, object>> = {};
  for (const [name, handler] of Object.entries(handlers) as [string, (request: object) => Promise<object>][]) {
    if (!service[name]) continue;
    served[name] = (call, reply) => {
      handler(call.request).then(
        (response) => reply(null, response),
        (error: unknown) => {
          logger.debug('etcd request failed', { method: name, err: error });
          reply(toRpcFailure(error));
        },
      );
    };
  }
  return served;
}

/** The answer of `/health`. A store that has stopped is not healthy, so that nobody is sent to it. */
async function health(store: EmbeddedStore): Promise<string | undefined> {
  try {
    await store.range({ key: '\0', keysOnly: true });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
