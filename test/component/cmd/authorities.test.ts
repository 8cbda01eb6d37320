// Files of authorities that flags name: one without a certificate is refused in upstream's words, as pods or the kubelet would believe nobody with it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseFlags } from '#component-base';
import { controllersConfigOf, kubeControllerManagerFlags } from '#controller-manager';
import { kubeletFlags, kubeletSettings } from '#kubelet';
import { createCertificateAuthority } from '#pki';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-authorities-'));
  await writeFile(join(dir, 'good'), createCertificateAuthority({ commonName: 'a' }).cert);
  await writeFile(join(dir, 'bad'), 'kind: Nothing\n');
});
afterAll(() => rm(dir, { recursive: true }));

const rootCa = (name: string): string =>
  controllersConfigOf(parseFlags(kubeControllerManagerFlags(), [`--root-ca-file=${join(dir, name)}`]).values).rootCa;
const clientCa = async (name: string) => {
  const flags = [`--client-ca-file=${join(dir, name)}`, `--root-dir=${dir}`, `--cert-dir=${dir}`];
  const { values, changed } = parseFlags(kubeletFlags, flags);
  return (await kubeletSettings(values, changed)).serving?.tls.ca;
};

test("the controller manager's for pods", () => {
  expect(rootCa('good')).toContain('BEGIN CERTIFICATE');
  const why = 'data does not contain any valid RSA or ECDSA certificates';
  expect(() => rootCa('bad')).toThrow(`error parsing root-ca-file at ${join(dir, 'bad')}: ${why}`);
  expect(() => rootCa('none')).toThrow(`error parsing root-ca-file at ${join(dir, 'none')}: ENOENT`);
});

test("the kubelet's for its clients", async () => {
  expect(await clientCa('good')).toContain('BEGIN CERTIFICATE');
  const [bad, none] = [join(dir, 'bad'), join(dir, 'none')];
  await expect(clientCa('bad')).rejects.toThrow(
    `unable to load client CA file ${bad}: error reading ${bad}: data does not contain any valid RSA or ECDSA certificates`,
  );
  await expect(clientCa('none')).rejects.toThrow(
    `unable to load client CA file ${none}: open ${none}: no such file or directory`,
  );
});
