import { afterEach, expect, it } from 'vitest';
import { systemClock } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { silentLogger } from '#utils';
import { createWireClient, type WireServer } from '#wire';
import { createMetrics } from '../metrics/index.ts';
import { defaultDelegatedAuth } from './delegated-auth.ts';
import { serveComponent } from './serve.ts';

const clock = systemClock();
const [own, proxies] = ['own', 'proxies'].map((commonName) => createCertificateAuthority({ commonName, clock }));
let server: WireServer | undefined;
afterEach(() => server?.close({ graceMs: 0 }));

const requestHeader = {
  ca: proxies?.cert ?? '',
  allowedNames: [],
  usernameHeaders: ['x-remote-user'],
  uidHeaders: [],
  groupHeaders: ['x-remote-group'],
  extraHeaderPrefixes: ['x-remote-extra-'],
};

/** Nobody has a right; only groups open doors. */
async function start(decisions?: (query: URLSearchParams) => object): Promise<string> {
  const denied = { resource: () => ({ create: async () => ({ status: {} }), get: async () => ({}) }) };
  const serving = issueCertificate({
    ca: own as NonNullable<typeof own>,
    commonName: 'x',
    ips: ['127.0.0.1'],
    usages: ['server auth'],
    clock,
  });
  server = await serveComponent(
    {
      serving: { tls: serving, listen: { host: '127.0.0.1', port: 0 } },
      auth: { ...defaultDelegatedAuth, requestHeader },
      health: () => ({}),
      metrics: createMetrics(),
      configz: { name: 'x', configuration: {} },
      ...(decisions && { decisions }),
      component: 'test',
      flags: {},
    },
    { authentication: denied, authorization: denied, clock, logger: silentLogger },
  );
  return `https://127.0.0.1:${server.port}`;
}

async function get(baseUrl: string, path: string, protocol: 'http/1.1' | 'h2', groups: readonly string[]) {
  const proxy = issueCertificate({
    ca: proxies as NonNullable<typeof proxies>,
    commonName: 'front',
    usages: ['client auth'],
    clock,
  });
  const client = createWireClient({ baseUrl, protocol, tls: { ...(own && { ca: own.cert }), ...proxy } });
  try {
    const answer = await client.request({ path, headers: { 'x-remote-user': 'jane', 'x-remote-group': groups } });
    return { status: answer.status, text: await answer.text() };
  } finally {
    client.close();
  }
}

it.each(['http/1.1', 'h2'] as const)('believes each group that a front proxy names, over %s', async (protocol) => {
  const url = await start();
  expect((await get(url, '/configz', protocol, ['dev', 'system:masters'])).status).toBe(200);
  expect((await get(url, '/configz', protocol, ['dev', 'system:masters, other'])).status).toBe(403);
  expect((await get(url, '/debug/decisions', protocol, ['system:masters'])).status).toBe(404);
});
it('says what was decided to those who may know', async () => {
  const url = await start((query) => ({ decisions: [query.get('key')] }));
  expect(await get(url, '/debug/decisions?key=default%2Fweb', 'http/1.1', ['system:masters'])).toEqual({
    status: 200,
    text: '{"decisions":["default/web"]}',
  });
  expect((await get(url, '/debug/decisions?key=default%2Fweb', 'http/1.1', ['dev'])).status).toBe(403);
});
