// HTTP/2 requests that are taken back in the same breath (CVE-2023-44487).
import { constants } from 'node:http2';
import { afterEach, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { limits } from '../limits.ts';
import { answerOf, openHttp2, openRaw } from './misbehaving-client.ts';
import { serve } from './serve.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const tls = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start() {
  const begun: string[] = [];
  const server = await serve({
    tls,
    onRequest({ path }, response) {
      begun.push(path);
      response.send(200, {}, 'ok');
    },
  });
  cleanups.push(() => server.close({ graceMs: 0 }));
  return { server, begun };
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0, Buffer.alloc(0))]);
// HPACK: :method GET, :scheme https, :path /, and :authority x as a literal that is not indexed.
const get = Buffer.from([0x82, 0x87, 0x84, 0x01, 0x01, 0x78]);
const takenBack = (count: number): Buffer =>
  Buffer.concat(
    Array.from({ length: count }, (_, at) =>
      Buffer.concat([frame(1, 5, 2 * at + 1, get), frame(3, 0, 2 * at + 1, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]))]),
    ),
  );

test('more of them than anybody needs end the connection, and others are served', async () => {
  const { server, begun } = await start();
  const attacker = await openRaw(server.port, { protocol: 'h2' });
  cleanups.push(() => attacker.destroy());
  attacker.send(preface);
  attacker.send(takenBack(900));
  await expect.poll(() => attacker.ended()).toBe(true);
  expect(begun.length).toBeLessThan(limits.resetsInTurnMax);
  const client = openHttp2(server.port);
  cleanups.push(() => client.destroy());
  expect(await answerOf(client.request({ ':path': '/other' }))).toEqual({ status: 200, text: 'ok' });
});

test('a client that gives up what it has just asked for keeps its connection', async () => {
  const { server } = await start();
  const client = openHttp2(server.port);
  cleanups.push(() => client.destroy());
  for (let round = 0; round < 3; round++) {
    const streams = Array.from({ length: limits.resetsInTurnMax - 1 }, () =>
      client.request({ ':path': '/' }).on('error', () => {}),
    );
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
    expect(await answerOf(client.request({ ':path': '/last' }))).toEqual({ status: 200, text: 'ok' });
  }
  expect(client.destroyed).toBe(false);
});

test('many requests at once that are not taken back are all answered', async () => {
  const { server } = await start();
  const client = openHttp2(server.port);
  cleanups.push(() => client.destroy());
  const answers = await Promise.all(Array.from({ length: 240 }, () => answerOf(client.request({ ':path': '/' }))));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
});
