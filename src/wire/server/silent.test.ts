// Connections that say nothing, too little, or do not end when the server does: the server lets go of each of them by itself.
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { endInTime } from '../http/linger.ts';
import type { WireServer } from '../index.ts';
import { openHttp2, openRaw, type RawClient } from './misbehaving-client.ts';
import type { ServeOptions } from './options.ts';
import { serve } from './serve.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const tls = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const short: ServeOptions['limits'] = { headersTimeoutMs: 200, idleTimeoutMs: 200, timeoutCheckMs: 10 };
async function start(options: Partial<ServeOptions> = {}): Promise<WireServer> {
  const server = await serve({ tls, limits: short, onRequest: (_request, response) => response.send(200, {}, 'ok'), ...options });
  cleanups.push(() => server.close({ graceMs: 0 }));
  return server;
}
async function raw(server: WireServer, options?: Parameters<typeof openRaw>[1]): Promise<RawClient> {
  const client = await openRaw(server.port, options);
  cleanups.push(() => client.destroy());
  return client;
}
const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]);
const get = 'GET / HTTP/1.1\r\nHost: x\r\n';

type Silence = (server: WireServer) => Promise<unknown>;
const early: Record<string, Silence> = {
  'says nothing': (server) => raw(server, { tls: false }),
  'stops in the middle': async (server) => (await raw(server, { tls: false })).send(Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252])),
};

test.each(Object.entries(early))('a client that %s before TLS, and never ends its side, is let go of', async (_what, open) => {
  const server = await start({ limits: { handshakeTimeoutMs: 50 } });
  await open(server);
  await expect.poll(() => server.connections).toBe(0);
});

const silences: Record<string, Silence> = {
  'says nothing once it speaks TLS': (server) => raw(server),
  'sends half a header': async (server) => (await raw(server)).send('GET / HTTP/1.1\r\nHo'),
  'sends a bad request': async (server) => (await raw(server)).send('nonsense\r\n\r\n'),
  'is idle after an answer': async (server) => (await raw(server)).send(`${get}\r\n`),
  'asks for the end after an answer': async (server) => (await raw(server)).send(`${get}Connection: close\r\n\r\n`),
  'chose HTTP/2 and says nothing': (server) => raw(server, { protocol: 'h2' }),
  'has an HTTP/2 session without streams': async (server) => (await raw(server, { protocol: 'h2' })).send(preface),
};

test.each(Object.entries(silences))('a client that %s, and never ends its side, is let go of', async (_what, open) => {
  const server = await start();
  await open(server);
  await expect.poll(() => server.connections).toBe(0);
});

test('so is one that was refused an upgrade, or whose upgraded connection was ended', async () => {
  const server = await start({
    onUpgrade(upgrade) {
      if (upgrade.path === '/no') upgrade.reject(403, {}, 'no');
      else endInTime(upgrade.accept({ upgrade: 'x', connection: 'Upgrade' }), 50);
    },
  });
  for (const path of ['/no', '/yes']) {
    const client = await raw(server);
    client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n`);
    await expect.poll(client.ended).toBe(true);
  }
  await expect.poll(() => server.connections).toBe(0);
});

test('a peer of HTTP/2 that no longer answers is given up, whatever runs on its connection; one that answers is not', async () => {
  const server = await start({
    limits: { pingAfterSilenceMs: 50 },
    onRequest: (_request, response) => {
      response.head(200);
      response.flushHead();
    },
  });
  const alive = openHttp2(server.port);
  cleanups.push(() => alive.destroy());
  await once(
    alive.request({ ':path': '/' }).on('error', () => {}),
    'response',
  );
  const dead = await raw(server, { protocol: 'h2' });
  // HEADERS with END_STREAM and END_HEADERS: GET https://x/
  dead.send(Buffer.concat([preface, Buffer.from([0, 0, 6, 1, 5, 0, 0, 0, 1, 0x82, 0x87, 0x84, 0x01, 0x01, 0x78])]));
  await expect.poll(() => server.connections).toBe(2);
  await expect.poll(() => server.connections).toBe(1);
  expect(alive.destroyed).toBe(false);
  const pinged = new Promise((resolve, reject) => alive.ping((error) => (error ? reject(error) : resolve(true))));
  await expect(pinged).resolves.toBe(true);
});

describe('an answer that the client does not take', () => {
  const large = Buffer.alloc(64 * 1024 * 1024);

  test('costs it the connection, HTTP/1.1', async () => {
    const server = await start({ limits: { stallTimeoutMs: 50 }, onRequest: (_, response) => response.send(200, {}, large) });
    const client = await raw(server, { read: false });
    client.send(`${get}\r\n`);
    await expect.poll(() => server.connections).toBe(1);
    await expect.poll(() => server.connections).toBe(0);
  });

  test('costs it the stream, HTTP/2', async () => {
    let closed = false;
    const server = await start({
      limits: { stallTimeoutMs: 50 },
      onRequest: (request, response) => {
        request.onClose(() => (closed = true));
        response.send(200, {}, large);
      },
    });
    const session = openHttp2(server.port, { settings: { initialWindowSize: 0 } });
    cleanups.push(() => session.destroy());
    const stream = session.request({ ':path': '/' });
    stream.on('error', () => {}).pause();
    await once(stream, 'response');
    await expect.poll(() => closed).toBe(true);
    expect(session.destroyed).toBe(false);
  });
});

describe('garbage', () => {
  const noise = (seed: number): Buffer => {
    let state = seed;
    const next = (): number => (state = (state * 1_103_515_245 + 12_345) & 0x7fffffff) >> 16;
    return Buffer.from(Array.from({ length: 64 + (seed % 400) }, () => next() & 255));
  };
  const upgrade = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
  const places: Record<string, (server: WireServer, bytes: Buffer) => Promise<RawClient>> = {
    'instead of TLS': (server) => raw(server, { tls: false }),
    'instead of HTTP/1.1': (server) => raw(server),
    'instead of HTTP/2': (server) => raw(server, { protocol: 'h2' }),
    'after the preface of HTTP/2': async (server) => {
      const client = await raw(server, { protocol: 'h2' });
      client.send(preface);
      return client;
    },
    'after an upgrade': async (server) => {
      const client = await raw(server);
      client.send(upgrade);
      return client;
    },
  };
  test.each(Object.entries(places))('%s costs only its sender the connection', async (_place, open) => {
    const server = await start({
      limits: { ...short, headersTimeoutMs: 1_000, idleTimeoutMs: 1_000 },
      onUpgrade: (asked) => endInTime(asked.accept({ upgrade: 'x', connection: 'Upgrade' }).resume(), 50),
    });
    for (let seed = 1; seed <= 20; seed++) {
      const bytes = noise(seed);
      const client = await open(server, bytes);
      client.send(bytes);
      // Half of them go away in the middle.
      if (seed % 2 === 0) client.reset();
    }
    await expect.poll(() => server.connections).toBe(0);
    const fine = await raw(server);
    fine.send(`${get}\r\n`);
    await expect.poll(fine.text).toContain('200 OK');
  });
});
