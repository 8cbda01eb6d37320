import { expect, test } from 'vitest';
import { tlsWarnings } from './tls-warnings.ts';

const pem = (type: string): string => `-----BEGIN ${type}-----\nAA==\n-----END ${type}-----\n`;
const certificate = pem('CERTIFICATE');
const key = pem('EC PRIVATE KEY');

test.each([
  ['', '', 'tls: failed to find any PEM data in certificate input'],
  [certificate, 'x', 'tls: failed to find any PEM data in key input'],
  [certificate, key, undefined],
  [`${pem('X')}${certificate}`, `${pem('EC PARAMETERS')}${key}`, undefined],
  [
    key,
    certificate,
    'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
  ],
  [certificate, certificate, 'tls: found a certificate rather than a key in the PEM for the private key'],
  [
    pem('A') + pem('B'),
    key,
    'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [A B]',
  ],
])('%j and %j', (crt, pair, wanted) => {
  const data = { 'tls.crt': btoa(crt), 'tls.key': btoa(pair) };
  expect(tlsWarnings({ metadata: {}, type: 'kubernetes.io/tls', data })[0]).toBe(wanted);
  expect(tlsWarnings({ metadata: {}, type: 'Opaque', data })).toEqual([]);
});
