// Lists that are larger than one piece of an answer: packed on request, and no place among the requests in flight for those who do not take them.
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';

const seats = 10;
const objects = 30;
const objectChars = 500_000;
const path = '/api/v1/namespaces/default/configmaps';
let server: KubeApiServer;
let session: ClientHttp2Session;

beforeAll(async () => {
  server = await runKubeApiServer(
    {
      ...defaultOptions(),
      securePort: 0,
      bindAddress: '127.0.0.1',
      maxRequestsInFlight: seats,
      tokenFile: ['admin,admin,1,system:masters', 'tenant,tenant,2,tenants', 'other,other,3,tenants'].join('\n'),
    },
    { clock: systemClock(), rng: systemRng(), logger: silentLogger },
  );
  await server.started;
  session = connect(server.url, { rejectUnauthorized: false });
  await create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'tenants' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'tenants' }],
  });
  for (let at = 0; at < objects; at++)
    await create(path, { metadata: { name: `large-${at}` }, data: { text: 'x'.repeat(objectChars) } });
}, 60_000);
afterAll(async () => {
  session?.destroy();
  await server?.close();
});
const idle: (() => void)[] = [];
afterEach(() => {
  for (const stop of idle.splice(0)) stop();
});

async function create(where: string, object: object): Promise<void> {
  const stream = session.request({ ':method': 'POST', ':path': where, authorization: 'Bearer admin' });
  stream.end(JSON.stringify(object));
  expect((await answerOf(stream)).status).toBe(201);
}

interface Received {
  status: number;
  encoding: unknown;
  body: Buffer;
}

async function answerOf(stream: ClientHttp2Stream): Promise<Received> {
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return { status: Number(headers[':status']), encoding: headers['content-encoding'], body: Buffer.concat(chunks) };
}

const list = (token: string, more: Record<string, string> = {}, query = ''): Promise<Received> =>
  answerOf(session.request({ ':path': `${path}${query}`, authorization: `Bearer ${token}`, ...more }));

it.each(['gzip', 'identity'])('a list of many pieces arrives whole (%s)', { timeout: 60_000 }, async (coding) => {
  const { status, encoding, body } = await list('admin', { 'accept-encoding': coding });
  expect([status, encoding]).toEqual([200, coding === 'gzip' ? 'gzip' : undefined]);
  const { items } = JSON.parse((encoding === 'gzip' ? gunzipSync(body) : body).toString()) as {
    items: { data: { text: string } }[];
  };
  expect(items.map(({ data }) => data.text.length)).toEqual(Array.from({ length: objects }, () => objectChars));
});

it('clients that do not take their lists keep nobody else from reading', { timeout: 60_000 }, async () => {
  const begun = Array.from({ length: 3 * seats }, async () => {
    const socket = connectTls({ port: server.wire.port, host: '127.0.0.1', rejectUnauthorized: false });
    idle.push(() => socket.destroy());
    socket.on('error', () => {});
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer tenant\r\nAccept-Encoding: identity\r\n\r\n`);
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    return Number(/^HTTP\/1.1 (\d+)/.exec(first.toString('latin1'))?.[1]);
  });
  const statuses = await Promise.all(begun);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(seats);
  const others = await Promise.all(Array.from({ length: seats }, () => list('other', {}, '?limit=1')));
  expect(others.map(({ status }) => status)).toEqual(Array.from({ length: seats }, () => 200));
});
