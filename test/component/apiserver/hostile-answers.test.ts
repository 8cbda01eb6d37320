// Other API servers that mean harm: what they do with the connections that are handed on to them is at nobody's cost but of whoever asked for it.
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { createClient } from '#client';
import { systemClock, systemRng } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { silentLogger } from '#utils';

const seats = 10;
const group = 'bad.example.com';
let server: KubeApiServer;
let bad: Server;
const open = new Set<Socket>();

/** Switches protocols and echoes under /echo, never answers under /silent, and sends a byte at a time under /crumbs. */
function badServer(): Server {
  const ca = createCertificateAuthority({ commonName: 'bad' });
  const { cert, key } = issueCertificate({ ca, commonName: 'bad', dnsNames: ['bad.default.svc'], usages: ['server auth'] });
  return createServer({ cert, key }, (request, response) => {
    if (!request.url?.includes('/crumbs')) return void response.setHeader('content-type', 'application/json').end('{}');
    response.socket?.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    response.socket?.write(`${'1\r\nx\r\n'.repeat(100_000)}0\r\n\r\n`);
  })
    .on('upgrade', (request, socket) => {
      socket.on('error', () => {});
      if (request.url?.includes('/silent')) return;
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n');
      socket.pipe(socket);
    })
    .on('secureConnection', (socket) => open.add(socket));
}

beforeAll(async () => {
  bad = badServer().listen(0, '127.0.0.1');
  const bounds = { maxRequestsInFlight: seats, maxMutatingRequestsInFlight: seats, enablePriorityAndFairness: false };
  const tokenFile = 'admin,admin,1,system:masters\ntenant,tenant,2,tenants';
  const authorizationModes = ['AlwaysAllow'];
  server = await runKubeApiServer(
    { ...defaultOptions(), ...bounds, securePort: 0, bindAddress: '127.0.0.1', tokenFile, authorizationModes },
    { clock: systemClock(), rng: systemRng(), logger: silentLogger },
  );
  await server.started;
  const { port } = bad.address() as AddressInfo;
  const client = createClient(server.transport({ name: 'admin', groups: ['system:masters'] }));
  const services = client.resource({ group: '', version: 'v1', resource: 'services' }, 'default');
  const spec = { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] };
  await services.create({ metadata: { name: 'bad' }, spec } as never);
  const registrations = client.resource({ group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' });
  const service = { namespace: 'default', name: 'bad', port };
  const priorities = { groupPriorityMinimum: 100, versionPriority: 100 };
  const registered = { group, version: 'v1', insecureSkipTLSVerify: true, service, ...priorities };
  await registrations.create({ metadata: { name: `v1.${group}` }, spec: registered } as never);
  await vi.waitUntil(async () => (await once('/silent/not-upgraded')).includes('200 OK'), { timeout: 30_000, interval: 200 });
  client.close();
});
const attackers: TLSSocket[] = [];
afterEach(() => {
  for (const attacker of attackers.splice(0)) attacker.destroy();
});
afterAll(async () => {
  for (const socket of open) socket.destroy();
  bad.close();
  await server.close();
});

/** A connection of the tenant with one request, and what was said on it so far. */
function ask(path: string, headers = '') {
  const socket = connectTls({ port: server.wire.port, host: '127.0.0.1', rejectUnauthorized: false });
  attackers.push(socket);
  let text = '';
  let pieces = 0;
  socket
    .on('error', () => {})
    .on('data', (data: Buffer) => {
      text += data.toString('latin1');
      pieces++;
    });
  socket.write(`GET /apis/${group}/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer tenant\r\n${headers}\r\n`);
  return { socket, said: () => text, pieces: () => pieces };
}
const upgrading = 'Connection: Upgrade\r\nUpgrade: echo\r\n';
async function once(path: string): Promise<string> {
  const { socket, said } = ask(path, 'Connection: close\r\n');
  await new Promise((closed) => socket.once('close', closed));
  return said();
}

it('connections that speak another protocol take no places, and outlive the time for requests', async () => {
  const upgraded: ReturnType<typeof ask>[] = [];
  for (let count = 0; count < 2 * seats; count++) {
    const one = ask('/echo?timeout=1s', upgrading);
    await expect.poll(one.said).toContain('101 Switching Protocols');
    upgraded.push(one);
  }
  await new Promise((later) => setTimeout(later, 1_500));
  expect(await once('/silent/not-upgraded')).toContain('200 OK');
  for (const { socket } of upgraded) socket.write('still here');
  for (const { said } of upgraded) await expect.poll(said).toMatch(/still here$/);
});

it('those whose switch is never answered give their places back when their time is over', async () => {
  const silent = Array.from({ length: seats }, () => ask('/silent?timeout=1s', upgrading));
  await expect.poll(() => once('/silent/not-upgraded')).toContain('429 Too Many Requests');
  await expect.poll(() => once('/silent/not-upgraded')).toContain('200 OK');
  for (const { said } of silent) await expect.poll(said).toMatch(/^HTTP\/1.1 50[34]/);
});

it('a body of single bytes goes on in large pieces, and whole', async () => {
  const { said, pieces } = ask('/crumbs', 'Connection: close\r\n');
  await expect.poll(() => said().replace(/[^x]/g, '').length).toBe(100_000);
  expect(pieces()).toBeLessThan(1_000);
});
