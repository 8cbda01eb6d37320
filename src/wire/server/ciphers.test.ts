// Which ciphers a server agrees to when nobody chose them.
import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import type { WireServer } from '../index.ts';
import { serve } from './serve.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const tls = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });
let server: WireServer | undefined;
afterEach(() => server?.close({ graceMs: 0 }));

async function agreed(ciphers: string): Promise<string> {
  const options = { host: '127.0.0.1', port: server?.port ?? 0, rejectUnauthorized: false };
  const socket = connect({ ...options, ciphers, maxVersion: 'TLSv1.2' });
  try {
    await once(socket, 'secureConnect');
    return socket.getCipher().name;
  } catch {
    return 'none';
  } finally {
    socket.destroy();
  }
}

test('suites with CBC, and such without forward secrecy, are not offered unless they are asked for', async () => {
  const listen = { host: '127.0.0.1', port: 0 };
  server = await serve({ tls, listen, onRequest: () => {} });
  expect(await agreed('ECDHE-ECDSA-AES128-GCM-SHA256')).toBe('ECDHE-ECDSA-AES128-GCM-SHA256');
  for (const weak of ['ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA384', 'ECDHE-ECDSA-AES128-SHA256', 'AES128-GCM-SHA256'])
    expect(await agreed(weak)).toBe('none');
  await server.close({ graceMs: 0 });
  server = await serve({ tls: { ...tls, ciphers: 'ECDHE-ECDSA-AES128-SHA' }, listen, onRequest: () => {} });
  expect(await agreed('ECDHE-ECDSA-AES128-SHA')).toBe('ECDHE-ECDSA-AES128-SHA');
});
