import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '#host';
import { silentLogger } from '#utils';
import { HealthCheckServers, type ProxyHealth, serveHealthz } from './health.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const get = (port: number, path: string): Promise<{ status: number; headers: Record<string, unknown>; text: string }> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, agent: false }, async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    })
      .on('error', reject)
      .end();
  });

async function freePort(): Promise<number> {
  const probe = createServer().listen(0);
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

it('says whether the rules are in the kernel, and whether the node wants traffic', async () => {
  let eligible = true;
  const clock = systemClock();
  const health: ProxyHealth = {
    pendingSinceMs: () => undefined,
    lastSyncMs: () => clock.monotonic(),
    nodeEligible: () => eligible,
  };
  const server = await serveHealthz({ health, clock, host: '127.0.0.1', port: 0, logger: silentLogger });
  closers.push(() => server.close({ graceMs: 0 }));
  for (const path of ['/healthz', '/livez', '/healthz?x']) expect((await get(server.port, path)).status, path).toBe(200);
  expect((await get(server.port, '/other')).status).toBe(404);
  eligible = false;
  expect((await get(server.port, '/healthz')).status).toBe(503);
  expect(JSON.parse((await get(server.port, '/healthz')).text)).toMatchObject({ nodeEligible: false });
  expect((await get(server.port, '/livez')).status).toBe(200);
});

it('serves a port for each Service that wants one, as long as it does', async () => {
  const servers = new HealthCheckServers(() => true, silentLogger);
  closers.push(() => servers.close());
  const port = await freePort();
  const check = { namespace: 'shop', serviceName: 'web', port, localEndpoints: 2 };
  servers.sync([check]);
  await expect.poll(() => get(port, '/').catch(() => undefined)).toMatchObject({ status: 200 });
  expect((await get(port, '/')).headers['x-load-balancing-endpoint-weight']).toBe('2');
  servers.sync([{ ...check, localEndpoints: 0 }]);
  const none = await get(port, '/');
  expect(none.status).toBe(503);
  expect(JSON.parse(none.text)).toEqual({
    service: { namespace: 'shop', name: 'web' },
    localEndpoints: 0,
    serviceProxyHealthy: true,
  });
  servers.sync([]);
  await expect.poll(() => get(port, '/').catch((error: NodeJS.ErrnoException) => error.code)).toBe('ECONNREFUSED');
});
