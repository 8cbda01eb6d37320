import { once } from 'node:events';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { serve } from './serve.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const tls = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });

test('a request of several TLS records is read while the answer before it goes out', async () => {
  let begun = 0;
  const server = await serve({
    tls,
    async onRequest(request, response) {
      begun++;
      const { length } = await request.readBody();
      response.send(200, {}, Buffer.alloc(length * 100, 'x'));
    },
  });
  const client = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false });
  try {
    await once(client, 'secureConnect');
    const post = (length: number): void =>
      void client.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`);
    // Nothing is read of the first answer, which is more than the system takes.
    post(100_000);
    await expect.poll(() => begun).toBe(1);
    post(50_000);
    let text = '';
    client.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    await expect.poll(() => text.length, { timeout: 20_000 }).toBeGreaterThan(15_000_000);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  } finally {
    client.destroy();
    await server.close({ graceMs: 0 });
  }
});
