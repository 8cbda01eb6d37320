// The Transport over TLS, against any Kubernetes: what components use when they do not share a process with the apiserver.
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { StatusError } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import {
  type ApiCall,
  callBody,
  callPath,
  eventReader,
  failureOf,
  httpMethod,
  type Transport,
  type WatchCall,
  type WatchStream,
  watchPath,
} from '#apimachinery/transport';
import type { RestClientMetrics } from '#component-base';
import type { Clock } from '#utils';
import { type ClientRequest, type ClientResponse, createWireClient, type Dial, type WireClient } from '#wire';
import type { ClientConfig } from './kubeconfig-entries.ts';
import { requestTimeoutMs, tokenReloadMs, watchLineBytesMax } from './limits.ts';

export interface RestTransportOptions {
  config: ClientConfig;
  clock: Clock;
  /** `component/version (platform)`; its first word becomes the field manager. */
  userAgent: string;
  /** Opens connections elsewhere, e.g. in another network namespace. */
  dial?: Dial;
  /** The metrics in which every request is counted. */
  metrics?: RestClientMetrics | undefined;
  /** Asked for a bearer token before every request; keeps it fresh itself. Instead of the token in `config`. */
  token?(): Promise<string>;
}

export interface RestTransport extends Transport {
  /** From now on as somebody else, or elsewhere. Connections of before are closed: watches begin again. */
  use(config: ClientConfig): void;
}

export function createRestTransport(options: RestTransportOptions): RestTransport {
  return new TlsTransport(options);
}

class TlsTransport implements RestTransport {
  #wire: WireClient;
  #config: ClientConfig;
  readonly #host: string;
  readonly #options: RestTransportOptions;
  #token: { value: string; readAtMs: number } | undefined;

  constructor(options: RestTransportOptions) {
    this.#options = options;
    this.#config = options.config;
    const { server } = options.config;
    this.#host = /^https?:\/\/([^/]+)/.exec(server)?.[1] ?? server;
    this.#wire = this.#connect();
  }
  use(config: ClientConfig): void {
    const before = this.#wire;
    this.#config = config;
    this.#token = undefined;
    this.#wire = this.#connect();
    before.close();
  }
  async call<T>(call: ApiCall, signal?: AbortSignal): Promise<T> {
    const response = await this.#send(httpMethod[call.verb], callPath(call), callBody(call), withTimeout(signal));
    const text = await response.text();
    if (response.status >= 300) throw failure(response, text, httpMethod[call.verb], call);
    return JSON.parse(text) as T;
  }
  async watch<T extends KubeObject>(call: WatchCall, signal?: AbortSignal): Promise<WatchStream<T>> {
    const abort = new AbortController();
    signal?.addEventListener('abort', () => abort.abort(signal.reason), { once: true });
    const response = await this.#send('GET', watchPath(call), undefined, abort.signal);
    if (response.status >= 300) throw failure(response, await response.text(), 'GET', call);
    return watchStream<T>(response.body, abort);
  }
  async raw(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<{ status: number; text: string }> {
    const response = await this.#send(
      method,
      path,
      body === undefined ? undefined : { type: 'application/json', value: body },
      withTimeout(signal),
    );
    return { status: response.status, text: await response.text() };
  }
  close(): void {
    this.#wire.close();
  }

  #connect(): WireClient {
    const { server, ca, certificate, key, serverName, insecure } = this.#config;
    const { dial } = this.#options;
    const tls = { ca, cert: certificate, key, serverName, insecureSkipVerify: insecure };
    return createWireClient({ baseUrl: server, tls, ...(dial && { dial }) });
  }
  async #send(
    method: string,
    path: string,
    body: { type: string; value: unknown } | undefined,
    signal: AbortSignal,
  ): Promise<ClientResponse> {
    const token = this.#options.token ? await this.#options.token() : this.#bearer();
    return this.#measured(method, {
      method,
      path,
      signal,
      headers: {
        accept: 'application/json',
        'user-agent': this.#options.userAgent,
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': body.type }),
      },
      ...(body && { body: JSON.stringify(body.value) }),
    });
  }
  async #measured(method: string, request: ClientRequest): Promise<ClientResponse> {
    const { metrics, clock } = this.#options;
    if (!metrics) return this.#wire.request(request);
    const startMs = clock.monotonic();
    let code = '<error>';
    try {
      const response = await this.#wire.request(request);
      code = String(response.status);
      return response;
    } finally {
      metrics({ method, host: this.#host, code, durationMs: clock.monotonic() - startMs });
    }
  }
  /** A token file is read again every minute: the kubelet rotates it. */
  #bearer(): string | undefined {
    const { token, tokenFile } = this.#config;
    if (!tokenFile) return token;
    const nowMs = this.#options.clock.monotonic();
    if (!this.#token || nowMs - this.#token.readAtMs > tokenReloadMs)
      this.#token = { value: readFileSync(tokenFile, 'utf8').trim(), readAtMs: nowMs };
    return this.#token.value;
  }
}

const withTimeout = (signal: AbortSignal | undefined): AbortSignal => {
  const timeout = AbortSignal.timeout(requestTimeoutMs);
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
};

const failure = (
  { status, headers }: ClientResponse,
  text: string,
  method: string,
  call: { group: string; resource: string; name?: string },
): StatusError => failureOf({ status, text, type: headers['content-type'], retryAfter: headers['retry-after'] }, method, call);

/** Reads newline-delimited events; those that arrive before `subscribe` wait in the socket. */
function watchStream<T extends KubeObject>(body: Readable, abort: AbortController): WatchStream<T> {
  let stopped = false;
  return {
    subscribe(handler, end) {
      let over = false;
      const finish = (error?: Error): void => {
        if (over) return;
        over = true;
        end(stopped ? undefined : error);
      };
      body.setEncoding('utf8');
      const read = eventReader<T>((event) => {
        if (!over && !stopped) handler(event);
      }, watchLineBytesMax);
      body.on('data', (chunk: string) => {
        try {
          read(chunk);
        } catch (error) {
          body.destroy(error as Error);
        }
      });
      body.on('end', () => finish());
      body.on('error', (error: Error) => finish(error));
      body.on('close', () => finish());
    },
    stop() {
      stopped = true;
      abort.abort();
      body.destroy();
    },
  };
}
