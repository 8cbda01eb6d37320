import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCertificateAuthority } from '#pki';
import { kubeletTrust, openPki } from '../certificates/certificates.ts';
import { decrypt, encrypt, keepAuthorities, newCertificateKey, parseCertificateKey } from './certificates.ts';

describe('certificates on their way to another control plane', () => {
  const key = parseCertificateKey(newCertificateKey());
  const content = Buffer.from('-----BEGIN EC PRIVATE KEY-----');

  it('are read again with the key, and look different each time', () => {
    const hidden = encrypt(content, key);
    expect(decrypt(hidden, key)).toEqual(content);
    expect(hidden.equals(encrypt(content, key))).toBe(false);
    expect(hidden.includes(content)).toBe(false);
  });
  it.each<[string, (hidden: Buffer) => [Buffer, Buffer]]>([
    ['another key', (hidden) => [hidden, parseCertificateKey(newCertificateKey())]],
    [
      'a change',
      (hidden) => [Buffer.concat([hidden.subarray(0, 20), Buffer.from([(hidden[20] ?? 0) ^ 1]), hidden.subarray(21)]), key],
    ],
    ['a cut', (hidden) => [hidden.subarray(0, -1), key]],
    ['nothing', () => [Buffer.alloc(0), key]],
  ])('are not read after %s', (_what, made) => {
    const [hidden, withKey] = made(encrypt(content, key));
    expect(() => decrypt(hidden, withKey)).toThrow();
  });
  it.each([
    ['xyz', 'not hexadecimal'],
    ['', 'not hexadecimal'],
    ['abcd', 'it has 2 bytes, and must have 32'],
  ])('%j is no key', (text, why) => {
    expect(() => parseCertificateKey(text)).toThrow(why);
  });
});

describe('authorities that have arrived', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'authorities-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  const ca = createCertificateAuthority({ commonName: 'kubernetes' });
  const kubelets = createCertificateAuthority({ commonName: 'kubelet-serving-ca' });
  const files = new Map(
    Object.entries({ 'ca.crt': ca.cert, 'ca.key': ca.key, 'etcd/ca.key': ca.key, 'encryption.json': '{}' }).map(
      ([name, text]) => [name, Buffer.from(text)],
    ),
  );

  it('are kept below one folder', async () => {
    const pkiDir = join(dir, 'pki');
    const { pki, encryptSecrets } = await keepAuthorities(pkiDir, files);
    expect([pki.authority.cert, encryptSecrets]).toEqual([ca.cert, true]);
    expect(await readFile(join(pkiDir, 'etcd', 'ca.key'), 'utf8')).toBe(ca.key);
  });
  it.each([
    ['has an authority of kubelets', true],
    ['is from before there was one, and gets none of this machine’s own making', false],
  ])('of a cluster that %s', async (_which, whether) => {
    const given = { 'kubelet-serving-ca.crt': kubelets.cert, 'kubelet-serving-ca.key': kubelets.key };
    const more = Object.entries(whether ? given : {}).map(([name, text]) => [name, Buffer.from(text)] as const);
    const { pki } = await keepAuthorities(join(dir, 'pki'), new Map([...files, ...more]));
    expect(pki.kubeletAuthority?.cert).toBe(whether ? kubelets.cert : undefined);
    expect(kubeletTrust(pki)).toBe(whether ? ca.cert + kubelets.cert : ca.cert);
    // The whole control plane of an older cluster may make one.
    expect((await openPki(join(dir, 'pki'), { whole: true })).kubeletAuthority).toBeDefined();
  });
  it.each(['ca.key', 'ca.crt'])('do not stay where %s cannot be used', async (name) => {
    const pkiDir = join(dir, 'pki');
    await expect(keepAuthorities(pkiDir, new Map([...files, [name, Buffer.from('cut')]]))).rejects.toThrow();
    expect(existsSync(pkiDir)).toBe(false);
  });
});
