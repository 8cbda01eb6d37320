// Whom a machine believes that has an address, a token and a hash.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatYaml } from '#apimachinery/codec';
import { createCertificateAuthority, detachedJws } from '#pki';
import { authorityHashes, DiscoveryError, infoEntries, signedContent, trusted } from './cluster-info.ts';

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

it('believes what the token has signed', () => {
  const signature = detachedJws(content, 'abcdef', '0123456789abcdef');
  expect(signedContent({ kubeconfig: content, 'jws-kubeconfig-abcdef': signature }, token)).toBe(content);
});

it('waits for a signature that is not there', () => {
  expect(signedContent({ kubeconfig: content, 'jws-kubeconfig-ffffff': 'x' }, token)).toBeUndefined();
});

it.each([
  ['another secret', detachedJws(content, 'abcdef', 'ffffffffffffffff')],
  ['other contents', detachedJws(`${content} `, 'abcdef', '0123456789abcdef')],
  ['nothing', ''],
])('refuses a signature of %s', (_what, signature) => {
  expect(() => signedContent({ kubeconfig: content, 'jws-kubeconfig-abcdef': signature }, token)).toThrow(
    'failed to verify the signature of cluster-info',
  );
});

it('refuses an authority that is not pinned', () => {
  expect(trusted(content, authorityHashes(ca.cert))).toEqual({ server: 'https://10.0.0.1:6443', ca: ca.cert });
  expect(trusted(content, [])).toMatchObject({ ca: ca.cert });
  expect(() => trusted(content, authorityHashes(other.cert))).toThrow(/none of the public keys "sha256:[\da-f]{64}" are pinned/);
});

it('believes no authority that stands unpinned beside a pinned one', () => {
  const data = Buffer.from(`${other.cert}${ca.cert}`).toString('base64');
  const both = formatYaml({ clusters: [{ cluster: { server: 'https://10.0.0.1:6443', 'certificate-authority-data': data } }] });
  expect(trusted(both, authorityHashes(ca.cert)).ca).toBe(ca.cert);
  expect(authorityHashes(trusted(both, authorityHashes(`${ca.cert}${other.cert}`)).ca)).toHaveLength(2);
});

it.each(['abcdef', 'ABCDEF.0123456789abcdef', 'abcdef.0123456789abcde', `${token}\n`])('refuses %j as a token', (text) => {
  expect(() => signedContent({ kubeconfig: content }, text)).toThrow('was not of the form');
});

describe('whoever answers is not trusted yet', () => {
  /** Gives what was read, or why nothing was: in one sentence, whatever the answer. */
  function sentenceOf(work: () => unknown): string | undefined {
    try {
      work();
      return undefined;
    } catch (error) {
      if (!(error instanceof DiscoveryError)) throw error;
      expect(error.message).toMatch(/^[^\n]{1,400}$/);
      return error.message;
    }
  }
  /** Any value, among them those that look like a kubeconfig down to some depth. */
  const odd = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue(),
      fc.constantFrom('https://10.0.0.1:6443', 'http://', 'https://[', Buffer.from(ca.cert).toString('base64'), '===='),
      fc.record({ clusters: tie('any') }),
      fc.array(tie('any'), { maxLength: 2 }),
      fc.record({ name: fc.string(), cluster: tie('any') }),
      fc.record({ server: tie('any'), 'certificate-authority-data': tie('any') }, { requiredKeys: [] }),
    ),
  })).any;

  it('any answer is a ConfigMap’s entries or a sentence', () => {
    const answer = fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => JSON.stringify(value)),
      odd.map((data) => JSON.stringify({ data })),
    );
    fc.assert(
      fc.property(answer, (body) => {
        let entries: Record<string, string> = {};
        sentenceOf(() => {
          entries = infoEntries(body);
        });
        expect(Object.values(entries).every((value) => typeof value === 'string')).toBe(true);
      }),
    );
  });
  it('any kubeconfig names a server with an authority or is told in a sentence', () => {
    const text = fc.oneof(
      fc.string(),
      odd.map((value) => JSON.stringify(value)),
      odd.map((value) => formatYaml(value)),
    );
    fc.assert(
      fc.property(text, fc.constantFrom<string[]>([], ['sha256:00']), (said, hashes) => {
        let found = { server: 'https://a', ca: ca.cert };
        sentenceOf(() => {
          found = trusted(said, hashes);
        });
        expect([new URL(found.server).protocol, authorityHashes(found.ca).length]).toEqual(['https:', 1]);
      }),
      { numRuns: 500 },
    );
  });
  it.each([
    ['null', 'is no ConfigMap'],
    ['<html></html>', 'is no ConfigMap'],
    ['{"data":{"kubeconfig":1}}', 'is no ConfigMap'],
  ])('the answer %s', (body, sentence) => {
    expect(sentenceOf(() => infoEntries(body))).toContain(sentence);
  });
  it.each([
    ['null', 'names no cluster'],
    ['{clusters: [{cluster: {server: https://a, certificate-authority-data: 7}}]}', 'names no server and authority'],
    ['{clusters: [{cluster: {server: https://a, certificate-authority-data: AAAA}}]}', 'is no certificate'],
    ['{clusters: [{cluster: {server: "ftp://a", certificate-authority-data: AAAA}}]}', 'is no https:// address'],
    ['{clusters: [{cluster: {server: a b, certificate-authority-data: AAAA}}]}', 'is no https:// address'],
    ['a: [', 'names no cluster'],
  ])('the kubeconfig %s', (said, sentence) => {
    expect(sentenceOf(() => trusted(said, []))).toContain(sentence);
  });
  it('a bundle of a hundred authorities', () => {
    const data = Buffer.from(ca.cert.repeat(100)).toString('base64');
    const said = JSON.stringify({ clusters: [{ cluster: { server: 'https://a', 'certificate-authority-data': data } }] });
    expect(sentenceOf(() => trusted(said, ['sha256:00']))).toContain('and 96 more');
  });
});
