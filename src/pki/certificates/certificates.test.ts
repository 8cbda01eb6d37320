import { X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generateKeyPair } from '../key-pair.ts';
import { encodePem, findPem } from '../pem.ts';
import { createCertificateAuthority, issueCertificate, issueCertificateForKey, loadCertificateAuthority } from './issue.ts';
import { isSignedBy, type ParsedCertificate, parseCertificate, parseCertificateDer } from './parse.ts';
import { verifyCertificate } from './verify.ts';
import { createCertificateRequest, parseCertificateRequest } from './request.ts';

const ca = createCertificateAuthority({ commonName: 'kubernetes' });
const leafOf = (options: Partial<Parameters<typeof issueCertificate>[0]> = {}) =>
  issueCertificate({
    ca,
    commonName: 'system:node:a',
    organizations: ['system:nodes'],
    usages: ['digital signature', 'client auth'],
    ...options,
  });

test('a leaf chains to its authority, by our own check and by OpenSSL', () => {
  const { cert } = leafOf();
  const leaf = new X509Certificate(cert);
  const root = new X509Certificate(ca.cert);
  expect(leaf.verify(root.publicKey)).toBe(true);
  expect(leaf.checkIssued(root)).toBe(true);
  expect(root.ca).toBe(true);
  expect(isSignedBy(parseCertificate(cert), ca.certificate)).toBe(true);
  expect(isSignedBy(parseCertificate(cert), createCertificateAuthority({ commonName: 'kubernetes' }).certificate)).toBe(false);
});

test('subject, usages, names and validity survive a round trip', () => {
  const ips = ['10.96.0.1', '::1', 'fd00::a:0:1', '::ffff:102:304'];
  const { cert } = leafOf({
    commonName: 'kube-apiserver "ü", O=system:masters',
    organizations: ['b', 'a'],
    dnsNames: ['kubernetes.default.svc'],
    ips,
    uris: ['spiffe://x/y'],
    usages: ['digital signature', 'key encipherment', 'server auth', 'client auth'],
    notBefore: Date.UTC(2049, 11, 31, 23, 59, 59),
    notAfter: Date.UTC(2050, 0, 1),
  });
  const parsed = parseCertificate(cert);
  expect(parsed.subject).toEqual({
    commonName: 'kube-apiserver "ü", O=system:masters',
    organizations: ['a', 'b'],
    organizationalUnits: [],
  });
  expect(parsed.issuer.commonName).toBe('kubernetes');
  expect(parsed).toMatchObject({ dnsNames: ['kubernetes.default.svc'], ips, uris: ['spiffe://x/y'], isCa: false });
  expect(parsed.usages).toEqual(['digital signature', 'key encipherment', 'server auth', 'client auth']);
  expect([parsed.notBefore, parsed.notAfter]).toEqual([Date.UTC(2049, 11, 31, 23, 59, 59), Date.UTC(2050, 0, 1)]);
  const openssl = new X509Certificate(cert);
  expect(openssl.checkHost('kubernetes.default.svc')).toBe('kubernetes.default.svc');
  for (const ip of ips.slice(0, 3)) expect(openssl.checkIP(ip)).toBe(ip);
  expect(Date.parse(openssl.validTo)).toBe(parsed.notAfter);
});

test.each(['ECDSA-P256', 'RSA-2048'] as const)('an authority with %s can be loaded again and signs requests', (algorithm) => {
  const authority = loadCertificateAuthority(createCertificateAuthority({ commonName: 'front-proxy-ca', algorithm }));
  const { privateKey } = generateKeyPair();
  const pem = createCertificateRequest({
    privateKey,
    commonName: 'system:node:b',
    organizations: ['system:nodes'],
    dnsNames: ['b'],
    ips: ['10.0.0.2'],
  });
  const request = parseCertificateRequest(pem);
  expect(request).toMatchObject({
    subject: { commonName: 'system:node:b', organizations: ['system:nodes'] },
    dnsNames: ['b'],
    ips: ['10.0.0.2'],
  });
  const signed = issueCertificateForKey({
    ca: authority,
    publicKey: request.publicKey,
    commonName: 'system:node:b',
    usages: ['server auth'],
  });
  expect(isSignedBy(parseCertificate(signed), authority.certificate)).toBe(true);
  expect(parseCertificate(signed).publicKey.equals(request.publicKey)).toBe(true);
});

test('a request that was tampered with is refused', () => {
  const pem = createCertificateRequest({ ...generateKeyPair(), commonName: 'system:node:c' });
  const der = findPem(pem, 'CERTIFICATE REQUEST');
  der[der.indexOf('system:node:c') + 12] = 'd'.charCodeAt(0);
  expect(() => parseCertificateRequest(encodePem('CERTIFICATE REQUEST', der))).toThrow('signature is not valid');
});

test('damaged certificates fail with a PkiError and nothing else', () => {
  const der = findPem(leafOf().cert, 'CERTIFICATE');
  fc.assert(
    fc.property(fc.nat(der.length - 1), fc.nat(255), fc.nat(der.length), (at, octet, end) => {
      const damaged = Buffer.from(der.subarray(0, end));
      if (at < damaged.length) damaged[at] = octet;
      try {
        parseCertificateDer(damaged);
      } catch (error) {
        expect((error as Error).name).toBe('PkiError');
      }
    }),
  );
});

test('verification: authority, time and usage', () => {
  const now = Date.UTC(2026, 0, 2);
  const validity = { notBefore: Date.UTC(2026, 0, 1), notAfter: Date.UTC(2026, 0, 3) };
  const clock = { now: () => now, monotonic: () => 0, setTimer: () => ({ cancel() {} }), sleep: () => Promise.resolve() };
  const root = createCertificateAuthority({ commonName: 'root', clock });
  const stranger = createCertificateAuthority({ commonName: 'root', clock });
  const leaf = parseCertificate(leafOf({ ca: root, ...validity }).cert);
  const check = (options: Partial<Parameters<typeof verifyCertificate>[1]>) =>
    verifyCertificate(leaf, { roots: [root.certificate], now, usage: 'client auth', ...options });
  expect(check({})).toBeUndefined();
  expect(check({ roots: [stranger.certificate, root.certificate] })).toBeUndefined();
  expect(check({ roots: [stranger.certificate] })).toBe('x509: certificate signed by unknown authority');
  expect(check({ roots: [], intermediates: [root.certificate] })).toBe('x509: certificate signed by unknown authority');
  expect(check({ usage: 'server auth' })).toBe('x509: certificate specifies an incompatible key usage');
  expect(check({ now: Date.UTC(2026, 0, 4) })).toBe(
    'x509: certificate has expired or is not yet valid: current time 2026-01-04T00:00:00Z is after 2026-01-03T00:00:00Z',
  );
  expect(check({ now: Date.UTC(2025, 0, 1) })).toContain('is before 2026-01-01T00:00:00Z');
});

// Made by OpenSSL: an authority of version 1, a certificate that it issued, and the same authority as another one signed it.
const [old, issued, between, root] = [
  `-----BEGIN CERTIFICATE-----
MIIBGDCBvwIUcC5jMm9UzF1Pj72Ls9vvZB/MH2AwCgYIKoZIzj0EAwIwDjEMMAoG
A1UEAwwDb2xkMCAXDTI2MTEyMzA4MjYzN1oYDzIxMjYxMDMwMDgyNjM3WjAOMQww
CgYDVQQDDANvbGQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ8reAffgWTuUsw
GF1YLV8FhSR7DSsTq3YhJ+V9gtpU+PNW4oWbPMVapiyH2Nb/0HXSqtJA5o7QvAfb
BlreMR5TMAoGCCqGSM49BAMCA0gAMEUCIHOh0vroRmafjhoq7wXG5ESR89ra670W
Cjvno2aoE47CAiEAgQnDW/fgFndml+QaiLNJRXtZ+ertfMB1q+i1eynEjec=
-----END CERTIFICATE-----`,
  `-----BEGIN CERTIFICATE-----
MIIBizCCATKgAwIBAgIUMxV6+37yDoEZfx7Y5IyJpNZ4lakwCgYIKoZIzj0EAwIw
DjEMMAoGA1UEAwwDb2xkMCAXDTI2MTEyMzA4MjYzOFoYDzIxMjYxMDMwMDgyNjM4
WjAPMQ0wCwYDVQQDDARsZWFmMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEcY4Y
XDWrHHBAFSSfYE80RYUD6C+pXZv3DjJ0a9pWUhfxE+Oh4KTysVPADcRtFjoa+mS6
sC3RxwWQ68M27/jZvqNrMGkwEwYDVR0lBAwwCgYIKwYBBQUHAwIwHQYDVR0OBBYE
FFOPcvMhyh1BYTE+Vwkfd5trez6GMDMGA1UdIwQsMCqhEqQQMA4xDDAKBgNVBAMM
A29sZIIUcC5jMm9UzF1Pj72Ls9vvZB/MH2AwCgYIKoZIzj0EAwIDRwAwRAIgdGpm
2gbZsV80S6yw6UWicAoux+xajWnXY65dEDIc6NYCIFDsH7h/Rsdg4X0n/ZkrwNoZ
/85zs9o2uzaRot9+1HHU
-----END CERTIFICATE-----`,
  `-----BEGIN CERTIFICATE-----
MIIBGjCBwAIUSXyn2ddev50dJLzr+g17m304NdwwCgYIKoZIzj0EAwIwDzENMAsG
A1UEAwwEcm9vdDAgFw0yNjExMjMwODI2MzhaGA8yMTI2MTAzMDA4MjYzOFowDjEM
MAoGA1UEAwwDb2xkMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEPK3gH34Fk7lL
MBhdWC1fBYUkew0rE6t2ISflfYLaVPjzVuKFmzzFWqYsh9jW/9B10qrSQOaO0LwH
2wZa3jEeUzAKBggqhkjOPQQDAgNJADBGAiEAm051HLWkLfL272Uvr0CX4D5bGvVd
O2Q6+ReX5bIlcTMCIQDqFtOFwOChASXz/1xztjT+DHYB1p0U84O8NXjpbJ9oaQ==
-----END CERTIFICATE-----`,
  `-----BEGIN CERTIFICATE-----
MIIBdjCCARugAwIBAgIUed0SKQ4oc+SX8qsRSlSmgwvwJ58wCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEcm9vdDAgFw0yNjExMjMwODI2MzhaGA8yMTI2MTAzMDA4MjYz
OFowDzENMAsGA1UEAwwEcm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFjS
+HxnLtqS+jkq8hhsXnws1fhK2xZEiRWq5E5E+75qJR0tZ8mBJf/ozLX1J3VZPvoz
kFac5pC+MK/Titmu0Z6jUzBRMB0GA1UdDgQWBBSfZZtwB/QKbDdWJbm1PGmKhhb4
LjAfBgNVHSMEGDAWgBSfZZtwB/QKbDdWJbm1PGmKhhb4LjAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0kAMEYCIQCjwI/2ps190N4PpZ5Fxd7/ii6RP/HcMY5e
bXhB6YiLiAIhAPg52D93JzMWcEjotjjPePQP1pQp7TPof2uRIoPjixaO
-----END CERTIFICATE-----`,
].map((pem) => parseCertificate(pem)) as [ParsedCertificate, ParsedCertificate, ParsedCertificate, ParsedCertificate];

test('an authority of version 1 has issued what it signed where it is trusted, not where it is presented', () => {
  const now = Date.UTC(2027, 0, 1);
  expect([old.version, issued.version, old.isCa]).toEqual([1, 3, false]);
  expect(verifyCertificate(issued, { roots: [old], now })).toBeUndefined();
  expect(verifyCertificate(between, { roots: [root], now })).toBeUndefined();
  expect(verifyCertificate(issued, { roots: [root], intermediates: [between], now })).toBe(
    'x509: certificate signed by unknown authority',
  );
});
