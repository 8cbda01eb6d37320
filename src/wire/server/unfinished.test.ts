// Requests that never end, or come too early: they cost their sender the connection, and nobody else anything.
import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import { afterEach, describe, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { limits } from '../limits.ts';
import type { WireRequest, WireResponse, WireServer } from '../index.ts';
import { answerOf, openHttp2, openRaw } from './misbehaving-client.ts';
import type { ServeOptions } from './options.ts';
import { serve } from './serve.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const tls = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options: Partial<ServeOptions> & Pick<ServeOptions, 'onRequest'>): Promise<WireServer> {
  const server = await serve({ tls, ...options });
  cleanups.push(() => server.close({ graceMs: 0 }));
  return server;
}
async function raw(server: WireServer): ReturnType<typeof openRaw> {
  const client = await openRaw(server.port);
  cleanups.push(() => client.destroy());
  return client;
}
function http2(server: WireServer): ReturnType<typeof openHttp2> {
  const session = openHttp2(server.port);
  cleanups.push(() => session.destroy());
  return session;
}

const heads = {
  announced: 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{',
  chunked: 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n',
};

describe.each(Object.entries(heads))('an HTTP/1.1 body that does not end (%s)', (_name, head) => {
  test('is given up after its time with 408, and its connection closed', async () => {
    const server = await start({
      limits: { bodyTimeoutMs: 50 },
      async onRequest(request, response) {
        response.send(200, {}, await request.readBody());
      },
    });
    const client = await raw(server);
    client.send(head);
    await expect.poll(client.text).toMatch(/^HTTP\/1\.1 408 [^]*connection: close/i);
    await expect.poll(client.ended).toBe(true);
    await expect.poll(() => server.connections).toBe(0);
  });

  test('is not waited for when somebody else has answered', async () => {
    let failure: unknown;
    const over: string[] = [];
    const server = await start({
      async onRequest(request, response) {
        request.onClose(() => over.push('closed'));
        const body = request.readBody();
        response.send(504, {}, 'too late');
        failure = await body.catch((error: unknown) => error);
      },
    });
    const client = await raw(server);
    client.send(head);
    await expect.poll(client.text).toContain('504');
    await expect.poll(() => failure).toMatchObject({ name: 'ClientGoneError' });
    expect(over).toEqual(['closed']);
    await expect.poll(() => server.connections).toBe(0);
  });
});

test('a body that comes a byte at a time is given up after its time as well', async () => {
  const server = await start({
    limits: { bodyTimeoutMs: 200 },
    async onRequest(request, response) {
      response.send(200, {}, await request.readBody());
    },
  });
  const client = await raw(server);
  client.send(heads.chunked);
  const trickle = setInterval(() => client.send('1\r\n \r\n'), 10);
  cleanups.push(() => clearInterval(trickle));
  await expect.poll(client.text).toMatch(/^HTTP\/1\.1 408 /);
  await expect.poll(() => server.connections).toBe(0);
});

test('a body of crumbs ends its connection; one of few, or of larger pieces, is read', async () => {
  const failures: unknown[] = [];
  const server = await start({
    async onRequest(request, response) {
      const body = await request.readBody().catch((error: unknown) => void failures.push(error));
      if (body) response.send(200, {}, String(body.length));
    },
  });
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  const sent = async (piece: string, count: number): Promise<Awaited<ReturnType<typeof raw>>> => {
    const client = await raw(server);
    const chunk = `${piece.length.toString(16)}\r\n${piece}\r\n`;
    client.send(`${head}${chunk.repeat(count)}0\r\n\r\n`);
    return client;
  };
  const few = await sent('x', limits.bodyPiecesMax);
  await expect.poll(few.text).toMatch(/^HTTP\/1\.1 200 [^]*10000$/);
  const larger = await sent('x'.repeat(2 * limits.bodyPieceBytesMin), 2 * limits.bodyPiecesMax);
  await expect.poll(larger.text).toMatch(/^HTTP\/1\.1 200 [^]*1280000$/);
  few.destroy();
  larger.destroy();
  const crumbs = await sent('x', 2 * limits.bodyPiecesMax);
  await expect.poll(crumbs.ended).toBe(true);
  expect(failures).toMatchObject([{ name: 'ClientGoneError' }]);
  await expect.poll(() => server.connections).toBe(0);
});

test.each(['read', 'unread'])('an endless body is not taken without bound when the answer is out (%s)', async (how) => {
  const server = await start({
    onRequest(request, response) {
      if (how === 'read') request.readBody(1000).catch(() => response.send(413, {}, ''));
      else setImmediate(() => response.send(401, {}, ''));
    },
  });
  const client = await raw(server);
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let sent = 0;
  const more = (): void => {
    while (client.socket.writable && client.socket.write(chunk)) sent += chunk.length;
  };
  client.socket.on('drain', more);
  client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n');
  more();
  await expect.poll(client.text).toMatch(/^HTTP\/1\.1 4\d\d /);
  await expect.poll(() => server.connections).toBe(0);
  // What the buffers of both kernels hold was sent, but not read.
  expect(sent).toBeLessThan(limits.lingerBytesMax + 32 * 1024 * 1024);
});

test('a connection is kept when the whole body came before the answer, read or not', async () => {
  const server = await start({ onRequest: (_request, response) => void setImmediate(() => response.send(403, {}, 'no')) });
  const client = await raw(server);
  for (let i = 1; i <= 3; i++) {
    client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello');
    await expect.poll(() => client.text().split('HTTP/1.1 403').length - 1).toBe(i);
  }
  expect(client.text()).not.toMatch(/connection: close/i);
  expect(client.ended()).toBe(false);
});

describe('an HTTP/2 body that does not end', () => {
  test('is given up after its time with 408, and its stream closed', async () => {
    const server = await start({
      limits: { bodyTimeoutMs: 50 },
      async onRequest(request, response) {
        response.send(200, {}, await request.readBody());
      },
    });
    const session = http2(server);
    const stream = session.request({ ':method': 'POST', ':path': '/' });
    stream.write('{');
    expect(await answerOf(stream)).toEqual({ status: 408, text: 'Request Timeout\n' });
    expect(session.closed).toBe(false);
  });

  test('is not waited for when somebody else has answered', async () => {
    let failure: unknown;
    const over: string[] = [];
    const server = await start({
      async onRequest(request, response) {
        request.onClose(() => over.push('closed'));
        const body = request.readBody();
        response.send(504, {}, 'too late');
        failure = await body.catch((error: unknown) => error);
      },
    });
    const stream = http2(server).request({ ':method': 'POST', ':path': '/' });
    stream.write('{');
    expect(await answerOf(stream)).toEqual({ status: 504, text: 'too late' });
    await expect.poll(() => failure).toMatchObject({ name: 'ClientGoneError' });
    await expect.poll(() => over).toEqual(['closed']);
  });

  test('ends with a large answer only once that has arrived whole', async () => {
    const text = 'x'.repeat(3_000_000);
    const server = await start({ onRequest: (_request, response) => response.send(200, {}, text) });
    const stream = http2(server).request({ ':method': 'POST', ':path': '/' });
    stream.write('{');
    expect((await answerOf(stream)).text.length).toBe(text.length);
  });
});

describe('requests sent before the answer to an earlier one', () => {
  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

  test('are carried out one by one, and answered in their order', async () => {
    let running = 0;
    let most = 0;
    const onRequest = async ({ path }: WireRequest, response: WireResponse): Promise<void> => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      response.send(200, {}, `[${path}]`);
    };
    const client = await raw(await start({ onRequest }));
    client.send(['/a', '/b', '/c', '/d'].map(get).join(''));
    await expect.poll(client.text).toContain('[/d]');
    expect(client.text().match(/\[.{2}\]/g)).toEqual(['[/a]', '[/b]', '[/c]', '[/d]']);
    expect(most).toBe(1);
  });

  test('are not carried out when the connection has gone, and end it when they are too many', async () => {
    const paths: string[] = [];
    const server = await start({ onRequest: ({ path }) => void paths.push(path) });
    const client = await raw(server);
    client.send(get('/never-answered') + get('/next').repeat(limits.queuedRequestsMax + 1));
    await expect.poll(() => server.connections).toBe(0);
    expect(paths).toEqual(['/never-answered']);
  });

  test('are not carried out behind a request whose body was left unread', async () => {
    const paths: string[] = [];
    const server = await start({
      onRequest({ path }, response) {
        paths.push(path);
        response.send(403, {}, '');
      },
    });
    const client = await raw(server);
    client.send('POST /first HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n');
    await expect.poll(client.text).toContain('403');
    client.send(`hello${get('/second')}`);
    await expect.poll(() => server.connections).toBe(0);
    expect(paths).toEqual(['/first']);
  });
});

test('an announced body that is too large is refused to a client that first sends all of it', async () => {
  const server = await start({
    async onRequest(request, response) {
      await request.readBody(1000).catch(() => response.send(413, {}, 'too large'));
    },
  });
  const request = httpsRequest({ host: '127.0.0.1', port: server.port, method: 'POST', agent: false, rejectUnauthorized: false });
  request.end(Buffer.alloc(3_500_000));
  const [response] = (await once(request, 'response')) as [{ statusCode: number; resume(): void }];
  response.resume();
  expect(response.statusCode).toBe(413);
});
