// What is kept of a cluster's keys is used as it was written, or named and refused: others believe the public halves, so nothing else takes their place.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCertificateAuthority } from '#pki';
import { openPki } from './certificates.ts';

let dir: string;
const contents = async (): Promise<string[]> =>
  Promise.all((await readdir(dir)).sort().map(async (name) => `${name}: ${await readFile(join(dir, name), 'utf8')}`));
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-pki-'));
  await openPki(dir, { whole: true });
});
afterEach(() => rm(dir, { recursive: true }));

const pairs = [
  ['ca.crt', 'ca.key'],
  ['front-proxy-ca.crt', 'front-proxy-ca.key'],
  ['kubelet-serving-ca.crt', 'kubelet-serving-ca.key'],
  ['sa.pub', 'sa.key'],
] as const;

describe.each(pairs)('%s and %s', (open, secret) => {
  it.each([
    ['empty', ''],
    ['cut', '-----BEGIN CERTIFICATE-----\nMIIB'],
    ['something else', 'null'],
  ])('are refused by name when one is %s', async (_, content) => {
    for (const name of [open, secret]) {
      const whole = await readFile(join(dir, name));
      await writeFile(join(dir, name), content);
      const damaged = await contents();
      await expect(openPki(dir, { whole: true })).rejects.toThrow(join(dir, name));
      expect(await contents()).toEqual(damaged);
      await writeFile(join(dir, name), whole);
    }
    await openPki(dir, { whole: true });
  });

  it('are not made anew when the secret one is lost', async () => {
    await rm(join(dir, secret));
    const damaged = await contents();
    await expect(openPki(dir, { whole: true })).rejects.toThrow(`${join(dir, secret)} is missing`);
    expect(await contents()).toEqual(damaged);
  });

  it('are made anew when a crash came between the two', async () => {
    await rm(join(dir, open));
    await openPki(dir, { whole: true });
    expect(await readdir(dir)).toContain(open);
  });

  it('are named when a directory is in their place', async () => {
    await rm(join(dir, secret));
    await mkdir(join(dir, secret));
    await expect(openPki(dir, { whole: true })).rejects.toThrow(join(dir, secret));
  });
});

it('an authority with the key of another is refused', async () => {
  await writeFile(join(dir, 'ca.key'), createCertificateAuthority({ commonName: 'kubernetes' }).key);
  await expect(openPki(dir)).rejects.toThrow('private key does not match public key');
});
