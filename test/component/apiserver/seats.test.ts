// Places among the requests that are answered at once: who lets a request hang does not keep one, and who keeps the cluster alive gets one.
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { once } from 'node:events';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';

const seats = 20;
let server: KubeApiServer;
let session: ClientHttp2Session;

beforeAll(async () => {
  server = await runKubeApiServer(
    {
      ...defaultOptions(),
      securePort: 0,
      bindAddress: '127.0.0.1',
      maxMutatingRequestsInFlight: seats,
      enablePriorityAndFairness: false,
      tokenFile: [
        'admin,admin,1,system:masters',
        'tenant,tenant,2,tenants',
        'other,other,3,tenants',
        'node,system:node:one,4,system:nodes',
      ].join('\n'),
    },
    { clock: systemClock(), rng: systemRng(), logger: silentLogger },
  );
  await server.started;
  session = connect(server.url, { rejectUnauthorized: false });
});
afterAll(async () => {
  session?.destroy();
  await server?.close();
});

const attackers: (() => void)[] = [];
afterEach(() => {
  for (const stop of attackers.splice(0)) stop();
});

const review = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const reviewed = JSON.stringify({ spec: { nonResourceAttributes: { verb: 'get', path: '/' } } });

async function statusOf(stream: ClientHttp2Stream): Promise<number> {
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  stream.resume();
  return Number(headers[':status']);
}

/** A write of somebody who behaves. */
function write(token: string): Promise<number> {
  const headers = { ':method': 'POST', ':path': review, authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const stream = session.request(headers);
  stream.end(reviewed);
  return statusOf(stream);
}

/** Requests whose body never ends; each answer's status, or 0 where there is none. */
interface Attack {
  statuses(): number[];
}

const http1 =
  (announce: string) =>
  async (count: number, query: string): Promise<Attack> => {
    const sockets = Array.from({ length: count }, () => {
      const socket: TLSSocket = connectTls({ port: server.wire.port, host: '127.0.0.1', rejectUnauthorized: false });
      attackers.push(() => socket.destroy());
      let text = '';
      socket.on('error', () => {}).on('data', (chunk: Buffer) => (text += chunk.toString()));
      const head = `POST ${review}${query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer tenant\r\n${announce}`;
      socket.write(head);
      return () => Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 0);
    });
    return { statuses: () => sockets.map((status) => status()) };
  };

const attacks: Record<string, (count: number, query: string) => Promise<Attack>> = {
  'HTTP/1.1, announced': http1('Content-Length: 1000\r\n\r\n{'),
  'HTTP/1.1, chunked': http1('Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n'),
  async 'HTTP/2'(count, query) {
    const own = connect(server.url, { rejectUnauthorized: false });
    attackers.push(() => own.destroy());
    const statuses = Array.from({ length: count }, () => 0);
    for (let i = 0; i < count; i++) {
      const stream = own.request({ ':method': 'POST', ':path': `${review}${query}`, authorization: 'Bearer tenant' });
      stream.on('error', () => {}).on('response', (headers) => (statuses[i] = Number(headers[':status'])));
      stream.write('{');
    }
    return { statuses: () => statuses };
  },
};

it.each(Object.entries(attacks))('bodies that never end leave the server fully writable (%s)', async (_name, attack) => {
  const { statuses } = await attack(seats, '?timeout=500ms');
  // The answer is 504 for each of them, while their connections stay open.
  await expect.poll(statuses).toEqual(Array.from({ length: seats }, () => 504));
  const written = await Promise.all(Array.from({ length: seats }, () => write('other')));
  expect(written).toEqual(Array.from({ length: seats }, () => 201));
});

it('places are given back when the connections go, long before the requests would have been over', async () => {
  await attacks['HTTP/1.1, announced']?.(seats, '');
  await expect.poll(() => write('other')).toBe(429);
  for (const stop of attackers.splice(0)) stop();
  await expect.poll(() => write('other')).toBe(201);
});

it('while all places are taken administrators, nodes and their like still get in, others wait', async () => {
  await attacks['HTTP/2']?.(seats, '');
  await expect.poll(() => write('other')).toBe(429);
  expect(await write('tenant')).toBe(429);
  expect(await write('node')).toBe(201);
  expect(await write('admin')).toBe(201);
});
