// Whom a machine believes that has an address, a token and a hash.
import { expect, it } from 'vitest';
import { formatYaml } from '#apimachinery/codec';
import { createCertificateAuthority, detachedJws } from '#pki';
import { authorityHashes, signedContent, trusted } from './discovery.ts';

const ca = createCertificateAuthority({ commonName: 'kubernetes' });
const other = createCertificateAuthority({ commonName: 'kubernetes' });
const content = formatYaml({
  clusters: [
    {
      name: '',
      cluster: { server: 'https://10.0.0.1:6443', 'certificate-authority-data': Buffer.from(ca.cert).toString('base64') },
    },
  ],
});
const token = 'abcdef.0123456789abcdef';
const info = (data: Record<string, string>) => ({ metadata: { name: 'cluster-info' }, data });

it('believes what the token has signed', () => {
  const signature = detachedJws(content, 'abcdef', '0123456789abcdef');
  expect(signedContent(info({ kubeconfig: content, 'jws-kubeconfig-abcdef': signature }), token)).toBe(content);
});

it('waits for a signature that is not there', () => {
  expect(signedContent(info({ kubeconfig: content, 'jws-kubeconfig-ffffff': 'x' }), token)).toBeUndefined();
});

it.each([
  ['another secret', detachedJws(content, 'abcdef', 'ffffffffffffffff')],
  ['other contents', detachedJws(`${content} `, 'abcdef', '0123456789abcdef')],
  ['nothing', ''],
])('refuses a signature of %s', (_what, signature) => {
  expect(() => signedContent(info({ kubeconfig: content, 'jws-kubeconfig-abcdef': signature }), token)).toThrow(
    'failed to verify the signature of cluster-info',
  );
});

it('refuses an authority that is not pinned', () => {
  expect(trusted(content, authorityHashes(ca.cert))).toEqual({ server: 'https://10.0.0.1:6443', ca: ca.cert });
  expect(trusted(content, [])).toMatchObject({ ca: ca.cert });
  expect(() => trusted(content, authorityHashes(other.cert))).toThrow(/none of the public keys "sha256:[\da-f]{64}" are pinned/);
});

it.each(['abcdef', 'ABCDEF.0123456789abcdef', 'abcdef.0123456789abcde', `${token}\n`])('refuses %j as a token', (text) => {
  expect(() => signedContent(info({ kubeconfig: content }), text)).toThrow('was not of the form');
});
