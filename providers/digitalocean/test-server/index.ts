// A small server of DigitalOcean's public API on loopback, for tests: droplets, load balancers, certificates, tags, firewalls and regions of one
// account, and the metadata service, written from the vendor's API reference (https://docs.digitalocean.com/reference/api/).
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Account } from './account.ts';
import { type Fault, Faults } from './faults.ts';
import { RateLimiter, type RateLimits } from './rate-limit.ts';
import { Refusal } from './refusal.ts';
import { answer } from './routes.ts';
import type { Body } from './validate-load-balancer.ts';

export type { Account, Droplet, LoadBalancer } from './account.ts';
export type { Fault } from './faults.ts';

const bodyBytesMax = 1_048_576;

export interface TestServerOptions {
  /** The account's token. */
  token?: string;
  /** The account's rate limits; those of the vendor unless given. */
  rateLimits?: RateLimits;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

export interface SeenRequest {
  method: string;
  /** With the query. */
  path: string;
  body: Body;
}

export interface TestServer {
  url: string;
  token: string;
  account: Account;
  /** Requests so far, oldest first. */
  requests: SeenRequest[];
  fail(fault: Fault): void;
  clearFaults(): void;
  close(): Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw new Refusal(400, 'error parsing request body');
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (request.method === 'GET' || request.method === 'DELETE') return {};
  if (!request.headers['content-type']?.startsWith('application/json')) throw new Refusal(400, 'error parsing request body');
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null) return body as Body;
  } catch {
    // Told like any other body that is no object.
  }
  throw new Refusal(400, 'error parsing request body');
}

/** Starts it on a free port of 127.0.0.1. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { token = 'dop_v1_test', rateLimits = { perHour: 5_000, perMinute: 250 }, now = Date.now } = options;
  const account = new Account(now);
  const faults = new Faults();
  const limiter = new RateLimiter(rateLimits, now);
  const requests: SeenRequest[] = [];

  const send = (
    response: ServerResponse,
    status: number,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): void => {
    const content = body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' };
    response.writeHead(status, { ...content, ...limiter.headers(), ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  };
  const handle = async (request: IncomingMessage, url: URL): Promise<{ status: number; body?: unknown }> => {
    const method = request.method ?? 'GET';
    const body = await bodyOf(request);
    requests.push({ method, path: url.pathname + url.search, body });
    if (request.headers.authorization !== `Bearer ${token}`) throw new Refusal(401, 'Unable to authenticate you.');
    limiter.take();
    const fault = faults.take(method, url.pathname);
    const refusal = fault && new Refusal(fault.status, fault.message ?? 'Server Error', fault.headers);
    if (refusal && !fault?.afterwards) throw refusal;
    const answered = answer(method, { account, url, body });
    if (refusal) throw refusal;
    return answered;
  };
  const server = createServer((request, response) => {
    const requestId = randomUUID();
    const asked = `http://${request.headers.host ?? 'localhost'}${request.url ?? '/'}`;
    if (!URL.canParse(asked)) return void response.writeHead(400).end();
    const url = new URL(asked);
    if (url.pathname === '/metadata/v1/region') {
      response.writeHead(account.ownRegion === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(account.ownRegion);
      return;
    }
    handle(request, url).then(
      ({ status, body }) => send(response, status, body, { 'x-request-id': requestId }),
      (error: unknown) => {
        const refusal = error instanceof Refusal ? error : new Refusal(500, String(error));
        send(response, refusal.status, refusal.body(requestId), { 'x-request-id': requestId, ...refusal.headers });
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    account,
    requests,
    fail: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
