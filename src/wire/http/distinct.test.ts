import { afterEach, expect, it } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { createWireClient } from '../client/client.ts';
import { serve } from '../server/serve.ts';
import { distinctHeaders } from './distinct.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const tls = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

it.each(
  (['http/1.1', 'h2'] as const).flatMap((protocol) =>
    [['a'], ['a', 'b'], ['a', 'b', 'c'], ['a, b', 'c']].map((groups) => ({ protocol, groups })),
  ),
)('the lines of a repeated header stay apart: $groups over $protocol', async ({ protocol, groups }) => {
  const server = await serve({
    tls,
    listen: { host: '127.0.0.1', port: 0 },
    onRequest: async (request, response) => response.send(200, {}, JSON.stringify(distinctHeaders(request))),
  });
  cleanups.push(() => server.close({ graceMs: 0 }));
  const client = createWireClient({ baseUrl: `https://127.0.0.1:${server.port}`, protocol, tls: { ca: ca.cert } });
  cleanups.push(() => client.close());
  const headers = { 'impersonate-user': 'jane', 'impersonate-group': groups };
  const answer = await client.request({ path: '/', headers });
  const seen = JSON.parse(await answer.text()) as Record<string, unknown>;
  expect(seen['impersonate-user']).toBe('jane');
  expect([seen['impersonate-group']].flat()).toEqual(groups);
  expect(seen['host']).toBe(`127.0.0.1:${server.port}`);
});
