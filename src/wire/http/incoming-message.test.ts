// Bodies that come with a wish for another protocol: they are read as those of ordinary requests, as servers of Go read them.
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { serve, type WireServer } from '../index.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const pair = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });
const head = (method: string, framing: string): string =>
  `${method} /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n${framing}\r\n\r\n`;
const chunked = 'Transfer-Encoding: chunked';

let server: WireServer | undefined;
afterEach(() => server?.close({ graceMs: 0 }));

describe.each(['plain', 'TLS'])('over %s HTTP/1.1', (transport) => {
  /** All that is answered to the pieces, each sent once the one before has arrived. */
  async function answersTo(...pieces: string[]): Promise<string> {
    server = await serve({
      ...(transport === 'TLS' && { tls: { cert: pair.cert, key: pair.key } }),
      async onRequest(request, response) {
        response.send(200, {}, `[${request.path} ${(await request.readBody()).length}]`);
      },
      onUpgrade: (upgrade) => upgrade.reject(400, {}, '[upgrade]'),
    });
    const address = { host: '127.0.0.1', port: server.port };
    const socket = transport === 'TLS' ? connectTls({ ...address, rejectUnauthorized: false }) : connect(address);
    await once(socket, transport === 'TLS' ? 'secureConnect' : 'connect');
    let text = '';
    socket.on('data', (bytes: Buffer) => (text += String(bytes)));
    for (const piece of pieces) await new Promise<void>((resolve) => socket.write(piece, () => setImmediate(resolve)));
    await once(socket, 'end');
    return text;
  }

  test.each([
    ['whole', [`${head('POST', 'Content-Length: 5')}hello`], 5],
    ['in parts', [head('POST', 'Content-Length: 5'), 'he', 'llo'], 5],
    ['long', [head('PUT', 'Content-Length: 200000'), 'x'.repeat(100_000), 'y'.repeat(100_000)], 200_000],
    ['in pieces', [head('PATCH', chunked), '5\r\nhel', 'lo\r\n0\r\n\r\n'], 5],
  ])('a body that comes %s is there', async (_, pieces, bytes) => {
    const text = await answersTo(...pieces);
    expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*connection: close\r\n/i);
    expect(text).toContain(`[/a ${bytes}]`);
  });

  test.each(['Content-Length: 0', 'X-A: b'])('without a body it is a request to upgrade: %s', async (framing) => {
    expect(await answersTo(head('GET', framing))).toMatch(/^HTTP\/1.1 400 [^]*\[upgrade\]$/);
  });
});
