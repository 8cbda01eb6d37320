import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { connect as connectTcp, createServer as createTcpServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { BodyTooLargeError, type WireRequest, type WireResponse, type WireServer } from '../index.ts';
import type { ServeOptions } from './options.ts';
import { serve } from './serve.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const issue = (commonName: string, organizations: string[] = [], authority = ca) =>
  issueCertificate({
    ca: authority,
    commonName,
    organizations,
    dnsNames: ['localhost', 'other'],
    ips: ['127.0.0.1'],
    usages: ['server auth', 'client auth'],
  });
const serverTls = { ...issue('server'), ca: ca.cert, requestClientCert: true };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options: Partial<ServeOptions> & Pick<ServeOptions, 'onRequest'>, plain = false): Promise<WireServer> {
  const server = await serve({ ...(!plain && { tls: serverTls }), ...options });
  cleanups.push(() => server.close({ graceMs: 0 }));
  return server;
}

const echo = async (request: WireRequest, response: WireResponse): Promise<void> => {
  const body = await request.readBody();
  response.send(
    200,
    { 'content-type': 'application/json' },
    JSON.stringify({
      method: request.method,
      path: request.path,
      version: request.httpVersion,
      body: body.toString(),
      host: request.headers.host,
      peer: request.peerCertificate?.subject,
      authorized: request.peerCertificate?.authorized,
      remote: request.remoteAddress,
    }),
  );
};

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}
type Ask = (
  server: WireServer,
  path: string,
  options?: { method?: string; body?: string | Buffer; cert?: string; key?: string },
) => Promise<Answer>;

const askHttp1: Ask = (server, path, { method = 'GET', body, ...identity } = {}) =>
  new Promise((resolve, reject) => {
    const request = httpsRequest(
      { host: '127.0.0.1', port: server.port, path, method, ca: ca.cert, agent: false, ...identity },
      async (response) => {
        const chunks: Buffer[] = [];
        response.on('error', reject);
        for await (const chunk of response) chunks.push(chunk as Buffer);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() });
      },
    );
    request.on('error', reject);
    request.end(body);
  });

const askHttp2: Ask = async (server, path, { method = 'GET', body, ...identity } = {}) => {
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, { ca: ca.cert, ...identity });
  try {
    const stream = session.request({ ':path': path, ':method': method }, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return { status: Number(headers[':status']), headers, text: Buffer.concat(chunks).toString() };
  } finally {
    session.close();
  }
};

const versions: [string, Ask][] = [
  ['1.1', askHttp1],
  ['2.0', askHttp2],
];

test.each(versions)('HTTP/%s: request, body and client certificate reach the handler', async (version, ask) => {
  const server = await start({ onRequest: echo });
  const answer = await ask(server, '/api?a=%20b', { method: 'POST', body: 'hello', ...issue('alice', ['dev', 'ops']) });
  expect(answer.headers['content-type']).toBe('application/json');
  expect(JSON.parse(answer.text)).toEqual({
    method: 'POST',
    path: '/api?a=%20b',
    version,
    body: 'hello',
    host: `127.0.0.1:${server.port}`,
    remote: '127.0.0.1',
    peer: { commonName: 'alice', organizations: ['dev', 'ops'], organizationalUnits: [] },
    authorized: true,
  });
});

test.each(versions)('HTTP/%s: a certificate of a foreign authority is presented but not authorized', async (_version, ask) => {
  const server = await start({ onRequest: echo });
  const foreign = issue('mallory', ['system:masters'], createCertificateAuthority({ commonName: 'test' }));
  expect(JSON.parse((await ask(server, '/', foreign)).text)).toMatchObject({
    authorized: false,
    peer: { commonName: 'mallory' },
  });
  expect(JSON.parse((await ask(server, '/')).text)).not.toHaveProperty('peer');
});

test.each(versions)('HTTP/%s: a body over the limit is refused, announced or not', async (_version, ask) => {
  const onRequest = async (request: WireRequest, response: WireResponse): Promise<void> => {
    const failure = await request.readBody(1000).then(
      () => undefined,
      (error: unknown) => error,
    );
    response.send(failure instanceof BodyTooLargeError ? 413 : 200, {}, '');
  };
  const server = await start({ onRequest });
  expect((await ask(server, '/', { method: 'POST', body: Buffer.alloc(1001) })).status).toBe(413);
  expect((await ask(server, '/', { method: 'POST', body: Buffer.alloc(1000) })).status).toBe(200);
});

test.each(versions)('HTTP/%s: a large response is written with back-pressure', async (_version, ask) => {
  const chunk = Buffer.alloc(256 * 1024, 'x');
  let waits = 0;
  const onRequest = async (_request: WireRequest, response: WireResponse): Promise<void> => {
    response.head(200, { 'content-type': 'text/plain', connection: 'keep-alive' });
    for (let i = 0; i < 64; i++) {
      if (response.write(chunk)) continue;
      waits++;
      await response.drain();
    }
    response.end();
  };
  const answer = await ask(await start({ onRequest }), '/');
  expect(answer.text.length).toBe(64 * chunk.length);
  expect(waits).toBeGreaterThan(0);
});

test.each(versions)('HTTP/%s: HEAD, 204 and failing handlers', async (_version, ask) => {
  const onRequest = ({ path }: WireRequest, response: WireResponse): void => {
    if (path === '/throws') throw new Error('boom');
    if (path === '/asked') return response.send(response.destroyed ? 410 : 403, {}, 'no');
    if (path === '/late') {
      response.head(200, {});
      response.write('partial');
      throw new Error('boom');
    }
    response.send(path === '/none' ? 204 : 200, {}, path === '/none' ? '' : 'body');
  };
  const server = await start({ onRequest });
  expect(await ask(server, '/', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  expect(await ask(server, '/asked', { method: 'HEAD' })).toMatchObject({ status: 403, text: '' });
  expect(await ask(server, '/throws', { method: 'HEAD' })).toMatchObject({ status: 500, text: '' });
  expect(await ask(server, '/none')).toMatchObject({ status: 204, text: '' });
  expect(await ask(server, '/throws')).toMatchObject({ status: 500, text: 'Internal Server Error\n' });
  await expect(ask(server, '/late')).rejects.toThrow();
  expect(await ask(server, '/')).toMatchObject({ status: 200, text: 'body' });
});

test.each(versions)('HTTP/%s: the signal fires when the client goes away, not when all went well', async (version) => {
  const aborted: string[] = [];
  let running = (): void => {};
  const started = new Promise<void>((resolve) => (running = resolve));
  const onRequest = ({ signal, path }: WireRequest, response: WireResponse): void => {
    signal.addEventListener('abort', () => aborted.push(path));
    if (path === '/fine') return response.send(200, {}, 'ok');
    response.head(200);
    response.write('x');
    running();
  };
  const server = await start({ onRequest });
  await (version === '1.1' ? askHttp1 : askHttp2)(server, '/fine');
  if (version === '1.1') {
    const request = httpsRequest({ host: '127.0.0.1', port: server.port, path: '/gone', ca: ca.cert, agent: false }, (response) =>
      response.resume(),
    );
    request.on('error', () => {});
    request.end();
    await started;
    request.destroy();
  } else {
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { ca: ca.cert });
    session
      .request({ ':path': '/gone' })
      .on('error', () => {})
      .resume();
    await started;
    session.destroy();
  }
  await expect.poll(() => aborted).toEqual(['/gone']);
});

test('curl speaks HTTP/2 with it', async () => {
  const curl = promisify(execFile);
  const version = await curl('curl', ['--version']).catch(() => ({ stdout: '' }));
  if (!version.stdout.includes('HTTP2')) return;
  const server = await start({ onRequest: echo });
  const args = [
    '-sSk',
    '--http2',
    '--resolve',
    `localhost:${server.port}:127.0.0.1`,
    `https://localhost:${server.port}/x`,
    '-w',
    '\n%{http_version}',
  ];
  const { stdout } = await curl('curl', args);
  const [json = '', used] = stdout.split('\n');
  expect(used).toBe('2');
  expect(JSON.parse(json)).toMatchObject({ path: '/x', version: '2.0', host: `localhost:${server.port}` });
});

test('sessions are resumed, and keep the client certificate', async () => {
  const server = await start({ onRequest: echo });
  const identity = issue('alice', ['dev']);
  const tickets: Buffer[] = [];
  const open = async (session?: Buffer) => {
    const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: ca.cert, ...identity, ...(session && { session }) });
    socket.on('session', (ticket) => tickets.push(ticket));
    await once(socket, 'secureConnect');
    const reused = socket.isSessionReused();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    return { text: Buffer.concat(chunks).toString(), reused };
  };
  expect((await open()).reused).toBe(false);
  const again = await open(tickets.at(-1));
  expect(again.reused).toBe(true);
  expect(again.text).toContain('"commonName":"alice"');
  expect(again.text).toContain('"authorized":true');
});

test('server names choose certificates, and certificates can be replaced', async () => {
  const other = issue('other-server');
  const sni = (name: string) => (name === 'other' ? other : undefined);
  const server = await start({ onRequest: echo, tls: { ...serverTls, sni } });
  const subjectFor = async (servername: string): Promise<string> => {
    const socket = connectTls({ host: '127.0.0.1', port: server.port, ca: ca.cert, servername });
    await once(socket, 'secureConnect');
    const name = String(socket.getPeerCertificate().subject.CN);
    socket.destroy();
    return name;
  };
  expect(await subjectFor('localhost')).toBe('server');
  expect(await subjectFor('other')).toBe('other-server');
  server.reloadTls({ ...issue('renewed'), ca: ca.cert });
  expect(await subjectFor('localhost')).toBe('renewed');
  expect(() => server.reloadTls({ cert: 'broken', key: 'broken' })).toThrow();
  expect(await subjectFor('localhost')).toBe('renewed');
});

test('a certificate that cannot be used is refused before anything listens', async () => {
  const taken = await start({ onRequest: echo, tls: serverTls });
  // Who came as far as to listen there would be told that the address is in use.
  const broken = serve({ onRequest: echo, tls: { cert: 'broken', key: 'broken' }, listen: { port: taken.port } });
  await expect(broken).rejects.toThrow(/PEM|no start line/);
  await expect(serve({ onRequest: echo, tls: { ...serverTls, key: issue('other').key } })).rejects.toThrow('key values mismatch');
});

test('close ends idle connections at once and cuts running ones off after the grace', async () => {
  const onRequest = ({ path }: WireRequest, response: WireResponse): void => {
    response.head(200);
    response.write('x');
    if (path === '/idle') response.end();
  };
  const server = await start({ onRequest });
  const agent = new Agent({ keepAlive: true, ca: ca.cert });
  cleanups.push(() => agent.destroy());
  const idle = connectHttp2(`https://127.0.0.1:${server.port}`, { ca: ca.cert });
  await once(idle.request({ ':path': '/idle' }).resume(), 'close');
  await new Promise((resolve) =>
    httpsRequest({ agent, port: server.port, host: '127.0.0.1', path: '/idle' }, (response) =>
      response.resume().on('end', resolve),
    ).end(),
  );
  const busy = connectHttp2(`https://127.0.0.1:${server.port}`, { ca: ca.cert });
  const stream = busy.request({ ':path': '/long' });
  stream.on('error', () => {});
  await once(stream, 'response');
  expect(server.connections).toBe(3);
  const ends: string[] = [];
  const all = Object.entries({ idle, busy }).map(async ([name, session]) => {
    await once(session, 'close');
    ends.push(name);
  });
  await server.close({ graceMs: 500 });
  expect(server.connections).toBe(0);
  busy.destroy();
  await Promise.all(all);
  expect(ends).toEqual(['idle', 'busy']);
});

test('malformed requests are answered or cut off, and harm nobody', async () => {
  const server = await start({ onRequest: echo }, true);
  const raw = async (bytes: string | Buffer): Promise<string> => {
    const socket = connectTcp(server.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.end(bytes);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  };
  expect(await raw('nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  expect(await raw('GET / HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  expect(await raw(`GET / HTTP/1.1\r\nHost: x\r\nA: ${'y'.repeat(2 ** 20)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
  expect(await raw(Buffer.from([0x16, 3, 1, 0, 5, 1]))).toMatch(/^HTTP\/1\.1 400 /);
  expect(await raw('GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toContain('"path":"/ok"');
});

test('serves on a socket that somebody else listened with', async () => {
  const owner = createTcpServer();
  await new Promise<void>((resolve) => owner.listen(0, '127.0.0.1', resolve));
  const server = await start({ onRequest: echo, listen: [{ port: 0 }, { handle: owner }] }, true);
  expect(server.addresses).toHaveLength(2);
  const text = await new Promise<string>((resolve, reject) => {
    const request = httpRequest({ port: server.addresses[1]?.port, host: '127.0.0.1', path: '/handed' }, async (response) => {
      let all = '';
      for await (const chunk of response) all += String(chunk);
      resolve(all);
    });
    request.on('error', reject).end();
  });
  expect(text).toContain('/handed');
});

test('a port in use is an error and leaves nothing behind', async () => {
  const server = await start({ onRequest: echo }, true);
  await expect(serve({ onRequest: echo, listen: [{ port: 0 }, { port: server.port }] })).rejects.toThrow('EADDRINUSE');
});
