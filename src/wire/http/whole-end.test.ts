// A body that was cut off, over HTTP/2, is not taken for a whole one: neither an answer nor what a client sends.
import { once } from 'node:events';
import { constants, createSecureServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { createWireClient } from '../client/client.ts';
import { openHttp2 } from '../server/misbehaving-client.ts';
import { serve } from '../server/serve.ts';
import { gathered } from './gather.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const tls = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Node would end the writable side first, as if all had been sent. */
function reset(stream: Pick<ServerHttp2Stream, 'end' | 'close'>, code: number): void {
  stream.end = (() => stream) as unknown as ServerHttp2Stream['end'];
  stream.close(code);
}

const { NGHTTP2_NO_ERROR, NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR } = constants;
const codes = [NGHTTP2_NO_ERROR, NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR];
const cuts: [string, (stream: ServerHttp2Stream) => unknown][] = [
  ...codes.map((code): [string, (stream: ServerHttp2Stream) => unknown] => [
    `by a reset of code ${code}`,
    (stream) => reset(stream, code),
  ]),
  ['with its connection', (stream) => stream.session?.socket && stream.session.destroy()],
];

test.each(cuts)('an answer cut off %s', async (_, cut) => {
  const server = createSecureServer({ key: tls.key, cert: tls.cert });
  server.on('sessionError', () => {});
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.respond({ ':status': 200 });
    stream.write(Buffer.alloc(100_000));
    setTimeout(() => cut(stream), 30);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createWireClient({ baseUrl: `https://127.0.0.1:${port}`, protocol: 'h2', tls: { insecureSkipVerify: true } });
  cleanups.push(
    () => server.close(),
    () => client.close(),
  );
  const { body } = await client.request({ path: '/' });
  const to = new PassThrough().resume();
  await expect(pipeline(body, gathered, to)).rejects.toThrow();
  await expect(
    pipeline(await client.request({ path: '/' }).then((answer) => answer.body), new PassThrough().resume()),
  ).rejects.toThrow();
});

test.each(codes)('what a client sends until its reset of code %i', async (code) => {
  const seen: string[] = [];
  const server = await serve({
    tls,
    onRequest: async ({ body }) => {
      for (const name of ['end', 'close']) body.on(name, () => seen.push(name));
      for await (const _ of body) seen.push('data');
    },
  });
  const session = openHttp2(server.port);
  cleanups.push(
    () => server.close({ graceMs: 0 }),
    () => session.destroy(),
  );
  const stream = session.request({ ':method': 'POST', ':path': '/' }, { endStream: false }).on('error', () => {});
  stream.write('half');
  await expect.poll(() => seen).toContain('data');
  reset(stream as unknown as ServerHttp2Stream, code);
  await expect.poll(() => seen).toContain('close');
  expect(seen).not.toContain('end');
});
