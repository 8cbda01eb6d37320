import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectTcp, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import {
  BodyTooLargeError,
  type ClientOptions,
  createWireClient,
  serve,
  type ServeOptions,
  type WireClient,
  type WireServer,
} from '../index.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const issue = (commonName: string) =>
  issueCertificate({
    ca,
    commonName,
    dnsNames: ['localhost', 'server.test'],
    ips: ['127.0.0.1'],
    usages: ['server auth', 'client auth'],
  });
const tls = { ...issue('server'), ca: ca.cert, requestClientCert: true };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const onRequest: ServeOptions['onRequest'] = async (request, response) => {
  if (request.path.endsWith('/hang')) {
    response.head(200, {});
    return void response.write('start');
  }
  const body = await request.readBody();
  const peer = request.peerCertificate?.subject.commonName;
  response.send(
    201,
    { 'x-version': request.httpVersion },
    JSON.stringify({ path: request.path, method: request.method, bytes: body.length, peer }),
  );
};

async function start(
  client: Partial<ClientOptions> = {},
  server: Partial<ServeOptions> = {},
): Promise<{ server: WireServer; client: WireClient }> {
  const running = await serve({ tls, onRequest, ...server });
  const made = createWireClient({ baseUrl: `https://127.0.0.1:${running.port}/prefix`, tls: { ca: ca.cert }, ...client });
  cleanups.push(
    () => running.close({ graceMs: 0 }),
    () => made.close(),
  );
  return { server: running, client: made };
}

describe.each(['http/1.1', 'h2'] as const)('%s', (protocol) => {
  test('requests share connections and carry bodies and certificates', async () => {
    const { server, client } = await start({ protocol, tls: { ca: ca.cert, ...issue('alice') } });
    const bodies = ['text', Buffer.alloc(100_000), Readable.from([Buffer.from('a'), Buffer.from('b')])];
    for (const [index, body] of bodies.entries()) {
      const response = await client.request({ method: 'POST', path: '/x?y=1', body, headers: { 'content-type': 'text/plain' } });
      expect(response.status).toBe(201);
      expect(response.headers['x-version']).toBe(protocol === 'h2' ? '2.0' : '1.1');
      expect(JSON.parse(await response.text())).toEqual({
        path: '/prefix/x?y=1',
        method: 'POST',
        bytes: [4, 100_000, 2][index],
        peer: 'alice',
      });
    }
    expect(server.connections).toBe(1);
  });

  test('aborting ends the exchange, before and during the body', async () => {
    const { client } = await start({ protocol });
    const controller = new AbortController();
    const response = await client.request({ path: '/hang', signal: controller.signal });
    const body = response.text();
    controller.abort(new Error('enough'));
    await expect(body).rejects.toThrow();
    await expect(client.request({ path: '/', signal: controller.signal })).rejects.toThrow();
    await expect(client.request({ path: '/' })).resolves.toMatchObject({ status: 201 });
  });

  test('a server nobody vouches for is refused; so is a wrong name', async () => {
    const strangers = await start({ protocol, tls: {} });
    await expect(strangers.client.request({ path: '/' })).rejects.toThrow(/certificate/);
    const wrong = await start({ protocol, tls: { ca: ca.cert, serverName: 'other.test' } });
    await expect(wrong.client.request({ path: '/' })).rejects.toThrow(/other\.test/);
    const right = await start({ protocol, tls: { ca: ca.cert, serverName: 'server.test' } });
    await expect(right.client.request({ path: '/' })).resolves.toMatchObject({ status: 201 });
    const careless = await start({ protocol, tls: { insecureSkipVerify: true } });
    await expect(careless.client.request({ path: '/' })).resolves.toMatchObject({ status: 201 });
  });

  test('the certificate of the server itself is trust enough', async () => {
    const { client } = await start({ protocol, tls: { ca: tls.cert.split(/(?<=-----END CERTIFICATE-----)/)[0] ?? '' } });
    await expect(client.request({ path: '/' })).resolves.toMatchObject({ status: 201 });
  });

  test('rotated certificates are used after closeIdle', async () => {
    let name = 'first';
    const { client } = await start({ protocol, tls: () => ({ ca: ca.cert, ...issue(name) }) });
    const peer = async (): Promise<string> => JSON.parse(await (await client.request({ path: '/' })).text()).peer;
    expect(await peer()).toBe('first');
    name = 'second';
    expect(await peer()).toBe('first');
    client.closeIdle();
    expect(await peer()).toBe('second');
  });

  test('the caller dials', async () => {
    const dialled: string[] = [];
    const target = await start();
    const dial: ClientOptions['dial'] = ({ host, port }) => {
      dialled.push(`${host}:${port}`);
      return Promise.resolve(connectTcp(target.server.port, '127.0.0.1'));
    };
    const client = createWireClient({ baseUrl: 'https://server.test:6443', tls: { ca: ca.cert }, protocol, dial });
    cleanups.push(() => client.close());
    await expect(client.request({ path: '/' })).resolves.toMatchObject({ status: 201 });
    expect(dialled).toEqual(['server.test:6443']);
  });

  test('a restarted server is found again', async () => {
    const { server, client } = await start({ protocol });
    await client.request({ path: '/' });
    const { port } = server;
    await server.close({ graceMs: 0 });
    await expect(client.request({ path: '/' })).rejects.toThrow();
    const again = await serve({ tls, onRequest, listen: { port } });
    cleanups.push(() => again.close({ graceMs: 0 }));
    await expect(client.request({ path: '/' })).resolves.toMatchObject({ status: 201 });
  });

  test('more than one connection’s worth of streams', async () => {
    const { server, client } = await start({ protocol }, { limits: { concurrentStreamsMax: 10 } });
    await (await client.request({ path: '/' })).text();
    const controller = new AbortController();
    const hanging = await Promise.all(
      Array.from({ length: 25 }, () => client.request({ path: '/hang', signal: controller.signal })),
    );
    expect(hanging.map((response) => response.status)).toEqual(new Array(25).fill(200));
    expect(server.connections).toBeGreaterThan(1);
    controller.abort();
  });

  test('what still runs when idle connections are closed leaves none behind, and shares its signal without a warning', async () => {
    const warnings: string[] = [];
    const warned = (warning: Error): void => void warnings.push(warning.message);
    process.on('warning', warned);
    const { server, client } = await start({ protocol });
    const { signal } = new AbortController();
    const answers = await Promise.all(Array.from({ length: 15 }, () => client.request({ path: '/', signal })));
    client.closeIdle();
    for (const answer of answers) await answer.text();
    await expect.poll(() => server.connections).toBe(0);
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });
});

test('unix sockets', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'wire-'));
  cleanups.push(() => rm(dir, { recursive: true }));
  const path = join(dir, 's');
  const server = await serve({ onRequest, listen: { path } });
  const client = createWireClient({ baseUrl: `unix://${path}` });
  cleanups.push(
    () => server.close({ graceMs: 0 }),
    () => client.close(),
  );
  const response = await client.request({ path: '/u' });
  expect(JSON.parse(await response.text())).toMatchObject({ path: '/u' });
});

test('a response over its bound is an error', async () => {
  const { client } = await start();
  await expect((await client.request({ path: '/' })).bytes(3)).rejects.toBeInstanceOf(BodyTooLargeError);
});

test('a server that accepts and says nothing runs into the time limit', async () => {
  const silent = createServer((socket) => void socket.on('error', () => {}));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => silent.close());
  const { port } = silent.address() as { port: number };
  const client = createWireClient({ baseUrl: `https://127.0.0.1:${port}`, connectTimeoutMs: 50, protocol: 'h2' });
  await expect(client.request({ path: '/' })).rejects.toMatchObject({ code: 'ETIMEDOUT' });
});

test('another protocol that nobody asked for is an error, not silence', async () => {
  const odd = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: odd\r\n\r\n'));
  });
  await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => odd.close());
  const client = createWireClient({ baseUrl: `http://127.0.0.1:${(odd.address() as { port: number }).port}` });
  cleanups.push(() => client.close());
  for (const method of ['GET', 'POST'])
    await expect(client.request({ method, path: '/', body: 'x' })).rejects.toMatchObject({ code: 'ECONNRESET' });
});

test.each(['ftp://x', 'nonsense'])('%s is no base URL', (baseUrl) => {
  expect(() => createWireClient({ baseUrl })).toThrow();
});

test.each(['DELETE', 'GET', 'POST'])('the body of a %s arrives whole, also as a stream', async (method) => {
  const { client } = await start();
  for (const body of ['twelve bytes', Buffer.from('twelve bytes'), Readable.from(['twelve', ' bytes'])]) {
    const response = await client.request({ method, path: '/x', body });
    expect(JSON.parse(await response.text())).toMatchObject({ method, bytes: 12 });
  }
});
