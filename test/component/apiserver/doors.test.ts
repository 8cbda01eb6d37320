// Every address at which an apiserver is reached serves by the same flags, and with the certificate that it was given last.
import { connect, type TLSSocket } from 'node:tls';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { systemClock, systemRng } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { silentLogger } from '#utils';
import type { WireServer } from '#wire';

const ca = createCertificateAuthority({ commonName: 'ca' });
const named = (commonName: string) => issueCertificate({ ca, commonName, dnsNames: [commonName], usages: ['server auth'] });

let server: KubeApiServer;
let further: WireServer;

beforeAll(async () => {
  const options = { ...defaultOptions(), securePort: 0, bindAddress: '127.0.0.1', serving: named('first') };
  server = await runKubeApiServer(
    { ...options, tls: { minVersion: 'TLSv1.3' }, filters: { strictTransportSecurityDirectives: ['max-age=60'] } },
    { clock: systemClock(), rng: systemRng(), logger: silentLogger },
  );
  further = await server.serveOn({ host: '127.0.0.1', port: 0 });
});
afterAll(() => server?.close());

async function reached(port: number, maxVersion?: 'TLSv1.2'): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...(maxVersion && { maxVersion }) });
  await once(socket, 'secureConnect');
  return socket;
}

async function ask(port: number): Promise<{ name: unknown; answer: string }> {
  const socket = await reached(port);
  const name = socket.getPeerCertificate().subject.CN;
  socket.end('GET /version HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  let answer = '';
  for await (const bytes of socket) answer += String(bytes);
  return { name, answer };
}

it('a further address takes no lower version of TLS than the first', async () => {
  for (const { port } of [server.wire, further]) {
    await expect(reached(port, 'TLSv1.2')).rejects.toThrow(/protocol version/i);
    expect((await ask(port)).answer).toMatch(/^HTTP\/1.1 200[^]*strict-transport-security: max-age=60/i);
  }
});

it('a request to upgrade that gets an ordinary answer has the same headers, and its answer begins when there is something to say', async () => {
  const socket = await reached(server.wire.port);
  const upgrade = 'connection: upgrade\r\nupgrade: x';
  const authorization = `authorization: Bearer ${server.loopbackToken}`;
  socket.write(`GET /api/v1/configmaps?watch=true HTTP/1.1\r\nhost: x\r\n${upgrade}\r\n${authorization}\r\n\r\n`);
  let answer = '';
  socket.on('data', (bytes: Buffer) => (answer += String(bytes)));
  const events = /^HTTP\/1.1 200[^]*strict-transport-security: max-age=60[^]*"type":"ADDED"/i;
  await expect.poll(() => answer, { timeout: 10_000 }).toMatch(events);
  expect(socket.destroyed).toBe(false);
  socket.destroy();
});

it('another certificate counts at every address', async () => {
  server.serveWith(named('second'));
  for (const { port } of [server.wire, further]) expect((await ask(port)).name).toBe('second');
});
