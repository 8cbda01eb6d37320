// Where the apiserver is reached: its own address and any that an assembly opens besides. All serve alike, as the flags say.
import type { Transport } from '#apimachinery/transport';
import type { Logger } from '#utils';
import {
  type ListenTarget,
  serve,
  type ServerTls,
  type WireRequest,
  type WireResponse,
  type WireServer,
  type WireUpgrade,
} from '#wire';
import type { Attributes, UserInfo } from '../request/request.ts';
import type { ApiServer } from '../server-options.ts';
import { withFilters } from './filters.ts';
import type { CertificatePair, KubeApiServerOptions } from './options.ts';

/** Stands before the requests of every way in, to let them fail on request. */
export interface RequestGate {
  /** Who asks for what, when that is known and allowed. Rejects with what is answered instead. */
  before(asked: Attributes): Promise<void>;
  /** Around a request over a connection; `path` with its query. */
  connection(response: WireResponse, path: string, serve: () => Promise<void>): Promise<void>;
  /** Around a transport of this process. */
  transport(inner: Transport, user: UserInfo): Transport;
}

export function tlsOf(options: KubeApiServerOptions, pair: CertificatePair): ServerTls {
  const authorities = [options.clientCa, options.requestHeader?.ca].filter((ca) => ca !== undefined);
  return {
    ...options.tls,
    cert: pair.cert,
    key: pair.key,
    requestClientCert: true,
    ...(authorities.length > 0 && { ca: authorities }),
  };
}

/** All the listeners of one apiserver. */
export class Doors {
  readonly #server: ApiServer;
  readonly #options: KubeApiServerOptions;
  readonly #deps: { gate?: RequestGate; logger: Logger };
  readonly #wires: WireServer[] = [];
  #pair: CertificatePair;

  constructor(
    server: ApiServer,
    pair: CertificatePair,
    options: KubeApiServerOptions,
    deps: { gate?: RequestGate; logger: Logger },
  ) {
    this.#server = server;
    this.#pair = pair;
    this.#options = options;
    this.#deps = deps;
  }
  /** Rejects when the address cannot be had. */
  async open(listen: ListenTarget): Promise<WireServer> {
    const { requestTimeoutMs, streamsMax, filters = {} } = this.#options;
    const { gate, logger } = this.#deps;
    const server = this.#server;
    const gated = (path: string, response: WireResponse, answer: () => Promise<void>): Promise<void> =>
      gate ? gate.connection(response, path, answer) : answer();
    const upgrade = withFilters(filters, (asked: WireUpgrade, response) =>
      gated(asked.path, response, () => server.upgrade(asked, response)),
    );
    const wire = await serve({
      tls: tlsOf(this.#options, this.#pair),
      listen,
      limits: { bodyTimeoutMs: requestTimeoutMs, ...(streamsMax && { concurrentStreamsMax: streamsMax }) },
      onRequest: withFilters(filters, (request: WireRequest, response) =>
        gated(request.path, response, () => server.handle(request, response)),
      ),
      onUpgrade: (asked) => upgrade(asked, asked.response()),
      logger,
    });
    this.#wires.push(wire);
    return wire;
  }
  /** Another certificate for new connections. Throws, and changes nothing, when it cannot be used. */
  serveWith(pair: CertificatePair): void {
    for (const wire of this.#wires) wire.reloadTls(tlsOf(this.#options, pair));
    this.#pair = pair;
  }
  async close(): Promise<void> {
    await Promise.all(this.#wires.map((wire) => wire.close({ graceMs: 1_000 })));
  }
}
