// Methods that nobody has heard of: the handler is asked, as with any other; what is no HTTP stays a bare 400.
import { afterEach, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import type { WireServer } from '../index.ts';
import { openRaw } from './misbehaving-client.ts';
import { serve } from './serve.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const tls = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function ask(
  text: string,
): Promise<{ asked: string[]; answer: () => string; ended: () => boolean; server: WireServer; send: (more: string) => void }> {
  const asked: string[] = [];
  const server = await serve({
    tls,
    async onRequest(request, response) {
      const body = await request.readBody();
      asked.push(
        `${request.method} ${request.path} ${String(request.headers['authorization'])} ${request.encrypted} ${body.length}`,
      );
      response.send(405, { 'content-type': 'text/plain' }, 'no such thing');
    },
  });
  cleanups.push(() => server.close({ graceMs: 0 }));
  const client = await openRaw(server.port);
  cleanups.push(() => client.destroy());
  client.send(text);
  return { asked, answer: client.text, ended: client.ended, server, send: (more) => client.send(more) };
}

test.each(['FOO', 'get', 'PROPFINDS', 'X', 'A-b_c.1'])('the handler answers %s, and the connection ends', async (method) => {
  const { asked, answer, ended, server } = await ask(
    `${method} /a?b=c HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer y\r\nContent-Length: 0\r\n\r\n`,
  );
  await expect.poll(ended).toBe(true);
  expect(answer()).toMatch(/^HTTP\/1\.1 405 [^]*connection: close[^]*no such thing$/i);
  expect(asked).toEqual([`${method} /a?b=c Bearer y true 0`]);
  await expect.poll(() => server.connections).toBe(0);
});

test('after a request that was answered, on the same connection', async () => {
  const { asked, answer, ended, send } = await ask('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(answer).toMatch(/no such thing$/);
  send('FOO /b HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(ended).toBe(true);
  expect(asked).toEqual(['GET / undefined true 0', 'FOO /b undefined true 0']);
});

const head = 'Host: x\r\n';
test.each([
  ['a body', `FOO / HTTP/1.1\r\n${head}Content-Length: 2\r\n\r\n{}`],
  ['a body in chunks', `FOO / HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['no host', 'FOO / HTTP/1.1\r\n\r\n'],
  ['two hosts', `FOO / HTTP/1.1\r\n${head}${head}\r\n`],
  ['another version', `FOO / HTTP/1.2\r\n${head}\r\n`],
  ['a folded field', `FOO / HTTP/1.1\r\n${head} more\r\n\r\n`],
  ['a space before the colon', `FOO / HTTP/1.1\r\n${head}A : b\r\n\r\n`],
  ['half a head', `FOO / HTTP/1.1\r\n${head}`],
  ['a control character in its target', `FOO /\u0001 HTTP/1.1\r\n${head}\r\n`],
  ['no token for a method', `F(O / HTTP/1.1\r\n${head}\r\n`],
])('%s is bad HTTP', async (_name, text) => {
  const { asked, answer, ended } = await ask(text);
  await expect.poll(ended).toBe(true);
  expect(answer()).toMatch(/^HTTP\/1\.1 400 /);
  expect(asked).toEqual([]);
});

test('what follows the message is not carried out', async () => {
  const { asked, answer, ended } = await ask(
    `FOO / HTTP/1.1\r\n${head}\r\nBAR / HTTP/1.1\r\n${head}\r\nGET / HTTP/1.1\r\n${head}\r\n`,
  );
  await expect.poll(ended).toBe(true);
  expect(asked).toEqual(['FOO / undefined true 0']);
  expect(answer().match(/^HTTP\/1\.1 /gm)).toHaveLength(1);
});
