// An answer that cannot be finished is told from one that is whole, whichever protocol the client speaks.
import { constants } from 'node:http2';
import { request } from 'node:https';
import { afterEach, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import type { WireResponse } from '../http/types.ts';
import { openHttp2 } from './misbehaving-client.ts';
import { serve } from './serve.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const tls = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(answer: (response: WireResponse) => unknown) {
  const server = await serve({ tls, onRequest: async (_request, response) => void (await answer(response)) });
  cleanups.push(() => server.close({ graceMs: 0 }));
  return server.port;
}

const ways: Record<string, (response: WireResponse) => unknown> = {
  'at once'(response) {
    response.write('half');
    response.destroy();
  },
  async later(response) {
    response.write('half');
    await new Promise((resolve) => setTimeout(resolve, 20));
    response.destroy();
  },
  async 'by an error of the handler'(response) {
    response.write('half');
    await new Promise((resolve) => setTimeout(resolve, 20));
    throw new Error('no more');
  },
  async 'while the client takes nothing'(response) {
    while (response.write('x'.repeat(65_536)));
    await new Promise((resolve) => setTimeout(resolve, 20));
    response.destroy();
  },
};

test.each(Object.entries(ways))('cut off %s, over HTTP/2', async (_, answer) => {
  const client = openHttp2(await start(answer));
  cleanups.push(() => client.destroy());
  const stream = client.request({ ':path': '/' });
  let ended = false;
  stream.on('error', () => {});
  stream.on('end', () => (ended = true));
  setTimeout(() => stream.resume(), 50);
  await new Promise<void>((resolve) => stream.on('close', () => resolve()));
  expect([stream.rstCode, ended]).toEqual([constants.NGHTTP2_INTERNAL_ERROR, false]);
});

test.each(Object.entries(ways))('cut off %s, over HTTP/1.1', async (_, answer) => {
  const sent = request({ host: '127.0.0.1', port: await start(answer), rejectUnauthorized: false });
  sent.on('error', () => {});
  sent.end();
  const whole = await new Promise((resolve) => {
    sent.on('close', () => resolve(false));
    sent.on('response', (response) => {
      setTimeout(() => response.resume(), 50);
      response.on('error', () => {});
      response.on('close', () => resolve(response.complete));
    });
  });
  expect(whole).toBe(false);
});
