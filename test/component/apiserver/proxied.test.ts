// What comes through the apiserver from elsewhere, and over WebSockets: pages of pods with links that lead back, logs and watches message by message.
import { once } from 'node:events';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { systemClock, systemRng } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { silentLogger } from '#utils';
import {
  createWireClient,
  dialWebSocket,
  serve,
  UpgradeRefusedError,
  type WebSocketConnection,
  type WireClient,
  type WireResponse,
  type WireServer,
} from '#wire';

let server: KubeApiServer;
let client: WireClient;
let pod: WireServer;
let kubelet: WireServer;
const prefix = '/api/v1/namespaces/default/pods/page:80/proxy';
const authorization = 'Bearer admin';
/** Nobody answers on nodes and in pods. */
let away = false;

const certificate = () => {
  const ca = createCertificateAuthority({ commonName: 'ca' });
  const { cert, key } = issueCertificate({ ca, commonName: 'page', ips: ['10.0.0.1'], usages: ['server auth'] });
  return { cert, key };
};

/** An answer that its server does not bring to an end. */
function cutOff(response: WireResponse): void {
  response.head(200, { 'content-type': 'text/html' });
  response.write('half');
  setImmediate(() => response.destroy());
}

beforeAll(async () => {
  pod = await serve({
    onRequest(request, response) {
      const [path = ''] = request.path.split('?');
      const html = Buffer.from(`<a href="/in">${request.method} ${String(request.headers['x-forwarded-uri'])}</a>`);
      const headers = { 'content-type': 'text/html; charset=utf-8', 'access-control-allow-origin': '*' };
      if (path === '/cut-off') cutOff(response);
      else if (path === '/moved') response.send(302, { location: '/there' }, '');
      else if (path === '/packed') response.send(200, { ...headers, 'content-encoding': 'gzip' }, gzipSync(html));
      else if (path === '/text') response.send(200, { 'content-type': 'text/plain' }, html);
      else response.send(200, headers, html);
    },
  });
  kubelet = await serve({
    tls: certificate(),
    onRequest(request, response) {
      if (request.path.includes('previous=true')) cutOff(response);
      else response.send(200, { 'content-type': 'text/plain' }, `${'x'.repeat(3_000)}\nlast\n`);
    },
  });
  server = await runKubeApiServer(
    { ...defaultOptions(), tokenFile: 'admin,admin,admin,"system:masters"', authorizationModes: ['RBAC'] },
    {
      clock: systemClock(),
      rng: systemRng(),
      logger: silentLogger,
      dialKubelet: async ({ port }) => {
        // Port 1 is tcpmux, which nobody serves.
        const socket = connect({ host: '127.0.0.1', port: away ? 1 : port === 10_250 ? kubelet.port : pod.port });
        await once(socket, 'connect');
        return socket;
      },
    },
  );
  await server.started;
  client = createWireClient({ baseUrl: server.url, tls: { insecureSkipVerify: true } });
  const admin = server.transport({ name: 'admin', groups: ['system:masters'] }, 'tester/1');
  const core = { group: '', version: 'v1' };
  const put = (resource: string, namespace: string, object: object, status: object) =>
    admin.call<{ metadata: object }>({ ...core, resource, namespace, verb: 'create', object: object as never }).then((made) =>
      admin.call({
        ...core,
        resource,
        namespace,
        verb: 'update',
        subresource: 'status',
        name: 'page',
        object: { ...made, status } as never,
      }),
    );
  await put('nodes', '', { metadata: { name: 'page' } }, { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] });
  await put('serviceaccounts', 'default', { metadata: { name: 'default' } }, {}).catch(() => undefined);
  await put(
    'pods',
    'default',
    {
      metadata: { name: 'page' },
      spec: { nodeName: 'page', containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] },
    },
    { phase: 'Running', podIP: '10.244.1.2', podIPs: [{ ip: '10.244.1.2' }] },
  );
});
afterAll(async () => {
  client?.close();
  await server?.close();
  await Promise.all([pod?.close({ graceMs: 0 }), kubelet?.close({ graceMs: 0 })]);
});

const ask = (path: string, method = 'GET') => client.request({ method, path, headers: { authorization } });

describe('where nobody answers', () => {
  beforeAll(() => {
    away = true;
    client.closeIdle();
  });
  afterAll(() => {
    away = false;
  });
  const refused = 'dial tcp 10.0.0.1:10250: connect: connection refused';
  const status = (code: number, message: string, more = {}) => ({ kind: 'Status', status: 'Failure', code, message, ...more });

  it.each(['websocket', 'SPDY/3.1'])('a command and a forwarded port are told by a Status (%s)', async (upgrade) => {
    const webSocket = { 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    for (const [path, protocol] of [
      ['exec?command=true&stdout=true', 'v5.channel.k8s.io'],
      ['portforward?ports=80', 'SPDY/3.1+portforward.k8s.io'],
    ]) {
      const headers = { authorization, connection: 'Upgrade', upgrade, ...webSocket, 'sec-websocket-protocol': protocol ?? '' };
      const method = upgrade === 'websocket' ? 'GET' : 'POST';
      const answer = client.upgrade({ method, path: `/api/v1/namespaces/default/pods/page/${path}`, headers });
      const error = await answer.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(UpgradeRefusedError);
      const { status: code, body } = error as UpgradeRefusedError;
      expect([code, JSON.parse(body.toString())]).toMatchObject([500, status(500, `error dialing backend: ${refused}`)]);
    }
  });
  it('logs and pages are told in the words of Go', async () => {
    const log = await ask('/api/v1/namespaces/default/pods/page/log');
    const url = 'https://10.0.0.1:10250/containerLogs/default/page/c?stream=All';
    expect(JSON.parse(await log.text())).toMatchObject(status(500, `Get "${url}": ${refused}`));
    const page = await ask(`${prefix}/`);
    const why = 'dial tcp 10.244.1.2:80: connect: connection refused';
    const reason = { reason: 'ServiceUnavailable' };
    expect(JSON.parse(await page.text())).toMatchObject(status(503, `error trying to reach service: ${why}`, reason));
  });
});

describe('a page of a pod', () => {
  it('has links that lead through the proxy, packed or not', async () => {
    const answer = await ask(`${prefix}/dir/?a=b`);
    expect(await answer.text()).toBe(`<a href="${prefix}/in">GET ${prefix}/dir/</a>`);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    const packed = await ask(`${prefix}/packed`);
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(await buffer(packed.body)).toString()).toContain(`href="${prefix}/in"`);
    expect(await (await ask(`${prefix}/text`)).text()).toContain('href="/in"');
    expect((await ask(`${prefix}/moved`)).headers.location).toBe(`${prefix}/there`);
  });
  it('is asked for with a slash at the end by those who read, and by others as it is', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await ask(`${prefix}?a=b`, method);
      expect([status, headers.location]).toEqual([301, `${prefix}/?a=b`]);
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await ask(prefix, method);
      expect([answer.status, await answer.text()]).toEqual([200, `<a href="${prefix}/in">${method} ${prefix}/</a>`]);
    }
  });
});

/** All messages until the server closes, or until there are so many. */
async function messagesOf(
  socket: WebSocketConnection,
  count = Number.POSITIVE_INFINITY,
): Promise<{ text: string; binary: boolean }[]> {
  const messages: { text: string; binary: boolean }[] = [];
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    let text = '';
    socket.on('part', ({ data, binary, begins, ends }) => {
      text = begins ? data.toString() : text + data.toString();
      if (!ends) return;
      messages.push({ text, binary });
      if (messages.length >= count) resolve();
    });
  });
  socket.close();
  return messages;
}
const open = (path: string, protocols: string[] = [], headers: Record<string, string> = {}) =>
  dialWebSocket(client, { path, protocols, headers: { authorization, ...headers } });

describe('over a WebSocket', () => {
  const log = '/api/v1/namespaces/default/pods/page/log';
  it.each([
    [[], true],
    [['binary.k8s.io'], true],
    [['base64.binary.k8s.io'], false],
  ] as [string[], boolean][])('a log comes in messages after an empty one, protocol %j', async (protocols, isBinary) => {
    const messages = await messagesOf(await open(log, protocols));
    expect(messages[0]).toEqual({ text: '', binary: isBinary });
    expect(messages.every(({ binary }) => binary === isBinary)).toBe(true);
    const text = messages.map((message) => (isBinary ? message.text : Buffer.from(message.text, 'base64').toString())).join('');
    expect(text).toBe(`${'x'.repeat(3_000)}\nlast\n`);
  });
  it('a log in another protocol is refused', async () => {
    await expect(open(log, ['v9.k8s.io'])).rejects.toMatchObject({ status: 403 });
  });
  it('a watch comes event by event', async () => {
    const path = '/api/v1/nodes?watch=1&timeoutSeconds=60';
    const [first] = await messagesOf(await open(path, [], { origin: 'http://localhost' }), 1);
    expect(first?.binary).toBe(false);
    expect(JSON.parse(first?.text ?? '')).toMatchObject({ type: 'ADDED', object: { kind: 'Node', metadata: { name: 'page' } } });
    await expect(open(path)).rejects.toMatchObject({ status: 403 });
    await expect(open(path, ['a', 'b'], { origin: 'http://localhost' })).rejects.toMatchObject({ status: 403 });
  });
  it('a watch ends with its time', async () => {
    const socket = await open('/api/v1/replicationcontrollers?watch=1&timeoutSeconds=1', [], { origin: 'http://localhost' });
    expect(await messagesOf(socket)).toEqual([]);
  });
  it('a watch whose time is below zero is over before its first event', async () => {
    const path = '/api/v1/nodes?watch=1&timeoutSeconds=-1';
    expect(await messagesOf(await open(path, [], { origin: 'http://localhost' }))).toEqual([]);
    const plain = await client.request({ path, headers: { authorization } });
    expect([plain.status, await plain.text()]).toEqual([200, '']);
  });
});

describe('what was cut off is not taken for whole', () => {
  const log = '/api/v1/namespaces/default/pods/page/log?previous=true';

  it.each(['http/1.1', 'h2'] as const)('by a client that speaks %s', async (protocol) => {
    const own = createWireClient({ baseUrl: server.url, tls: { insecureSkipVerify: true }, protocol });
    try {
      for (const path of [`${prefix}/cut-off`, log]) {
        const answer = await own.request({ path, headers: { authorization } });
        expect(answer.status).toBe(200);
        await expect(answer.text()).rejects.toThrow();
      }
    } finally {
      own.close();
    }
  });
  it('by a reader of a log over a WebSocket', async () => {
    const [code] = (await once(await open(log), 'close')) as [number];
    expect(code).toBe(1011);
  });
});
