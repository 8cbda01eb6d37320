// Against servers with certificates that a client has no reason to trust: the words are those of Go's crypto/x509.
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { createWireClient } from './client.ts';
import { dialErrorText } from './dial-error.ts';

const ca = createCertificateAuthority({ commonName: 'trusted' });
const other = createCertificateAuthority({ commonName: 'other' });
const hook = { ca, commonName: 'hook', usages: ['server auth'] } as const;
const localhost = { ...hook, dnsNames: ['localhost', 'hook.ns.svc'] } as const;

/** What a client of `serverName` that trusts `ca` says of a server with a certificate. */
async function said(serving: { cert: string; key: string }, serverName: string, trusted = ca.cert): Promise<string> {
  const server = createServer(serving, (_, response) => response.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createWireClient({ baseUrl: `https://${host}`, tls: { ca: trusted, serverName } });
  try {
    const { status } = await client.request({ method: 'GET', path: '/' });
    return String(status);
  } catch (error) {
    return dialErrorText(error, host);
  } finally {
    client.closeIdle();
    server.closeAllConnections();
    server.close();
  }
}

const x509 = 'tls: failed to verify certificate: x509:';

test.each([
  ['a certificate of the authority', () => said(issueCertificate(localhost), 'localhost'), '200'],
  [
    'another authority',
    () => said(issueCertificate({ ...localhost, ca: other }), 'localhost'),
    `${x509} certificate signed by unknown authority`,
  ],
  [
    'the certificate of an authority of its own',
    () => said({ cert: other.cert, key: other.key }, 'other'),
    `${x509} certificate signed by unknown authority`,
  ],
  [
    'a past time',
    () => said(issueCertificate({ ...localhost, notBefore: 0, notAfter: 1000 }), 'localhost'),
    `${x509} certificate has expired or is not yet valid`,
  ],
  [
    'another name',
    () => said(issueCertificate(localhost), 'web.ns.svc'),
    `${x509} certificate is valid for localhost, hook.ns.svc, not web.ns.svc`,
  ],
  [
    'no address',
    () => said(issueCertificate(localhost), '127.0.0.1'),
    `${x509} cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs`,
  ],
  [
    'another address',
    () => said(issueCertificate({ ...hook, ips: ['192.0.2.1'] }), '127.0.0.1'),
    `${x509} certificate is valid for 192.0.2.1, not 127.0.0.1`,
  ],
  [
    'addresses alone',
    () => said(issueCertificate({ ...hook, ips: ['192.0.2.1'] }), 'web'),
    `${x509} certificate is not valid for any names, but wanted to match web`,
  ],
  [
    'a common name alone',
    () => said(issueCertificate(hook), 'hook'),
    `${x509} certificate relies on legacy Common Name field, use SANs instead`,
  ],
])('a server with %s', async (_, saying, wanted) => {
  expect(await saying()).toBe(wanted);
});

test('a certificate that is the bundle itself is trusted', async () => {
  const serving = issueCertificate({ ...localhost, ca: other });
  expect(await said(serving, 'localhost', serving.cert)).toBe('200');
});
