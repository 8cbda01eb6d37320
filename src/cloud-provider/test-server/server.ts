// A server on loopback that speaks a vendor's API: routes, JSON in and out, faults. The vendor's part is its routes, how it checks who asks,
// and how a refusal looks.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '#host';
import { type Clock, type Rng, seededRng } from '#utils';
import { type Fault, Faults } from './faults.ts';
import { dispatcher, faultOf } from './dispatch.ts';
import { bodyBytesMax, seenRequestsMax } from './limits.ts';
import { readBody, Refusal, type VendorAnswer, type VendorApi, type VendorRequest } from './request.ts';

export interface VendorServerOptions extends VendorApi {
  /** Time of latency. Default: the machine's. */
  clock?: Pick<Clock, 'sleep'>;
  /** Draws which calls fail, for faults that have a rate. */
  rng?: Rng;
  /** Requests that no fault by rate hits. */
  spared?(request: VendorRequest): boolean;
  /** PEM, for SDKs that refuse to speak without TLS. */
  tls?: { key: string; cert: string };
}

export interface VendorServer {
  /** `http://127.0.0.1:<port>`, without a slash at its end. */
  url: string;
  faults: Faults;
  /** All that it can be asked for, as `GET /v4/nodebalancers/{id}`. */
  operations: readonly string[];
  /** The latest requests, oldest first. */
  requests: VendorRequest[];
  /** Requests so far. */
  count(): number;
  /** Requests that wait for time to pass: a virtual clock may go on while they are the only ones under way. */
  waiting(): number;
  /** Requests that have arrived and are not answered yet. */
  active(): number;
  /** Requests whose client went away before they were carried out. */
  gone(): number;
  /** Lets time pass in a handler, as for an answer that is held back. */
  sleep(ms: number): Promise<void>;
  /** Another address of the same server, for one client: closing it cuts that client off, in the middle of its requests. */
  openDoor(): Promise<Door>;
  close(): Promise<void>;
}
export interface Door {
  url: string;
  close(): Promise<void>;
}

/** The URL that was asked for; undefined for a target or a Host header that make no URL. */
function urlOf({ url = '/', headers }: IncomingMessage): URL | undefined {
  const asked = `http://${headers.host ?? 'localhost'}${url}`;
  return URL.canParse(asked) ? new URL(asked) : undefined;
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw new Refusal(413, 'tooLarge', 'the request body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );

const refusalOf = (error: unknown): Refusal =>
  error instanceof Refusal
    ? error
    : new Refusal(500, 'internalError', error instanceof Error ? (error.stack ?? error.message) : String(error));

const refusalOfFault = ({ status = 500, code = '', message = 'failed on request', headers }: Fault): Refusal =>
  new Refusal(status, code, message, headers);

function send(response: ServerResponse, { status, body, headers = {} }: VendorAnswer): void {
  if (body === undefined) {
    response.writeHead(status ?? 204, headers).end();
    return;
  }
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
  const content = isRaw ? body : JSON.stringify(body);
  const type = isRaw ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
  response.writeHead(status ?? 200, { 'content-type': type, 'content-length': Buffer.byteLength(content), ...headers });
  response.end(content);
}

/** The request that is being answered. One for all servers: Node 20 makes every promise dearer by each storage that was ever used. */
const current = new AsyncLocalStorage<{ response: ServerResponse }>();

/** Everything between a request and its answer. */
class Exchanges {
  readonly faults: Faults;
  readonly requests: VendorRequest[] = [];
  waiting = 0;
  active = 0;
  gone = 0;
  count = 0;
  readonly #options: VendorServerOptions;
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #dispatch: ReturnType<typeof dispatcher>;

  constructor(options: VendorServerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock();
    this.#dispatch = dispatcher(options.routes, options);
    this.faults = new Faults(options.rng ?? seededRng(1), options.spared);
  }
  serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    return current.run({ response }, () => this.#serve(incoming, response));
  }
  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.active += 1;
    let counted = true;
    const leave = (): void => {
      if (counted) this.active -= 1;
      counted = false;
    };
    response.once('close', () => {
      if (!response.writableEnded) this.gone += 1;
      // Nobody waits for its answer any more, although it may still sleep.
      leave();
    });
    try {
      const request = await this.#read(incoming, response);
      if (!request) return;
      const answer = await this.#answer(request, response);
      if (!answer || response.destroyed) return;
      send(response, { ...answer, headers: { ...this.#options.headers?.(request), ...answer.headers } });
    } finally {
      leave();
    }
  }
  async #read(incoming: IncomingMessage, response: ServerResponse): Promise<VendorRequest | undefined> {
    const url = urlOf(incoming);
    if (!url) return void response.writeHead(400).end();
    const request: VendorRequest = {
      method: incoming.method ?? 'GET',
      url,
      params: {},
      headers: headersOf(incoming),
      bytes: Buffer.alloc(0),
      body: undefined,
      number: ++this.count,
    };
    try {
      request.bytes = await bytesOf(incoming);
      request.body = readBody(request.bytes, incoming.headers['content-type']);
    } catch (error) {
      // The client went away in the middle of its request.
      if (incoming.errored && !(error instanceof Refusal)) return undefined;
      const refusal = error instanceof Refusal ? error : new Refusal(400, '', 'the request body cannot be read');
      send(response, this.#refused(refusal, request));
      return undefined;
    }
    this.requests.push(request);
    if (this.requests.length > 2 * seenRequestsMax) this.requests.splice(0, seenRequestsMax);
    return request;
  }
  /** Lets time pass. A request whose client has gone meanwhile does not count as waiting. */
  async pass(delayMs: number): Promise<void> {
    if (delayMs <= 0) return;
    const response = current.getStore()?.response;
    let counted = true;
    const leave = (): void => {
      if (counted) this.waiting -= 1;
      counted = false;
    };
    this.waiting += 1;
    response?.once('close', leave);
    try {
      await this.#clock.sleep(delayMs);
    } finally {
      response?.off('close', leave);
      leave();
    }
  }
  /** What is answered; undefined where nobody hears an answer any more, or the connection was broken off. */
  async #answer(request: VendorRequest, response: ServerResponse): Promise<VendorAnswer | undefined> {
    try {
      const fault = this.faults.take(request);
      await this.pass((fault?.delayMs ?? 0) + this.faults.latencyMs());
      // A client that gave up while its request was on the way is not heard any more, as behind a load balancer.
      if (response.destroyed) return undefined;
      fault?.then?.(request);
      const fails = fault !== undefined && (fault.drop === true || fault.status !== undefined);
      const answer = fails && !fault.afterwards ? undefined : await this.#handle(request);
      if (fails && fault.drop) {
        response.destroy();
        return undefined;
      }
      if (fails) throw refusalOfFault(fault);
      return answer;
    } catch (error) {
      return this.#refused(refusalOf(error), request);
    }
  }
  #refused(refusal: Refusal, request: VendorRequest): VendorAnswer {
    const answer = this.#options.refusalAnswer(refusal, request);
    return { status: refusal.status, ...answer, headers: { ...refusal.headers, ...answer.headers } };
  }
  #handle(request: VendorRequest): Promise<VendorAnswer> {
    try {
      this.#options.enter?.(request);
      this.#options.checkBody?.(request);
    } catch (error) {
      throw faultOf(error, request);
    }
    return this.#dispatch(request);
  }
}

/** Starts it on a free port of 127.0.0.1. */
export async function startVendorServer(options: VendorServerOptions): Promise<VendorServer> {
  const exchanges = new Exchanges(options);
  const listener = (incoming: IncomingMessage, response: ServerResponse): void => void exchanges.serve(incoming, response);
  const doors: Door[] = [];
  const openDoor = async (): Promise<Door> => {
    const server = options.tls ? createTlsServer(options.tls, listener) : createHttpServer(listener);
    // Clients keep their connections; one must not be closed under a request that is on its way.
    server.keepAliveTimeout = 0;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const door = {
      url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
      close: (): Promise<void> =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    };
    doors.push(door);
    return door;
  };
  const { url } = await openDoor();
  return {
    url,
    faults: exchanges.faults,
    operations: Object.keys(options.routes),
    requests: exchanges.requests,
    count: () => exchanges.count,
    waiting: () => exchanges.waiting,
    active: () => exchanges.active,
    gone: () => exchanges.gone,
    sleep: (ms) => exchanges.pass(ms),
    openDoor,
    close: async () => {
      await Promise.all(doors.map((door) => door.close()));
    },
  };
}
