// Certificates that are replaced while they are in use, as kubelets keep theirs (client-go/util/certificate, FileStore): `<name>-current.pem`, with
// certificate and key, is a link to the newest of `<name>-<time>.pem`.
import { readdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWrite, ensureDir, readFileIfExists } from '#host';
import type { CertificateAndKey } from '#pki';
import { keptCertificatesMax } from '../limits.ts';

const keyBlock = /-----BEGIN (?:EC |RSA |)PRIVATE KEY-----[\s\S]+?-----END (?:EC |RSA |)PRIVATE KEY-----\n?/;

export const currentCertificate = (dir: string, name: string): string => join(dir, `${name}-current.pem`);

/** Certificate and key out of one file; undefined when one of them is missing. */
export function splitPem(text: string): CertificateAndKey | undefined {
  const key = keyBlock.exec(text)?.[0];
  const cert = key === undefined ? '' : text.replace(keyBlock, '');
  return key !== undefined && cert.includes('BEGIN CERTIFICATE') ? { cert, key } : undefined;
}

export async function readCurrent(dir: string, name: string): Promise<CertificateAndKey | undefined> {
  const bytes = await readFileIfExists(currentCertificate(dir, name));
  return bytes && splitPem(bytes.toString('utf8'));
}

/** Writes a new certificate beside the earlier ones, of which the last few are kept. */
export async function keepCertificate(dir: string, name: string, pair: CertificateAndKey, nowMs: number): Promise<void> {
  await ensureDir(dir);
  const stamp = new Date(nowMs).toISOString().replace(/[:.]/g, '-').slice(0, 23);
  const file = `${name}-${stamp}.pem`;
  await atomicWrite(join(dir, file), `${pair.cert.trimEnd()}\n${pair.key}`, { mode: 0o600 });
  const draft = join(dir, `.${name}-current`);
  await rm(draft, { force: true });
  await symlink(file, draft);
  await rename(draft, currentCertificate(dir, name));
  const older = (await readdir(dir)).filter((other) => other.startsWith(`${name}-2`) && other.endsWith('.pem')).sort();
  for (const other of older.slice(0, -keptCertificatesMax)) await rm(join(dir, other), { force: true });
}
