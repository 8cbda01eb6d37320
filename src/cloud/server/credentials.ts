// What a cloud of its own keeps in its folder beside the world: its authority, its certificate, the tokens of its accounts, its port.
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { atomicWrite, readFileIfExists } from '#host';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  issueCertificate,
  loadCertificateAuthority,
  randomToken,
} from '#pki';
import type { ServingCertificate } from '#wire';
import type { CloudConfig } from './config-file.ts';
import type { CloudAccount } from './options.ts';

const authorityDays = 3_650;
const servingDays = 365;

async function authorityIn(dir: string): Promise<CertificateAuthority> {
  const [cert, key] = await Promise.all([readFileIfExists(join(dir, 'ca.crt')), readFileIfExists(join(dir, 'ca.key'))]);
  if (cert && key) return loadCertificateAuthority({ cert: cert.toString('utf8'), key: key.toString('utf8') });
  const made = createCertificateAuthority({ commonName: 'sagong-cloud', days: authorityDays });
  await atomicWrite(join(dir, 'ca.key'), made.key);
  await atomicWrite(join(dir, 'ca.crt'), made.cert, { mode: 0o644 });
  return made;
}

/** The API's certificate: the configured one, or a new one of the cloud's own authority (`ca.crt`). */
export async function servingCertificate(
  dir: string,
  configDir: string,
  { tls, names }: CloudConfig,
): Promise<ServingCertificate> {
  if (tls) {
    const [cert, key] = await Promise.all([tls.certFile, tls.keyFile].map((file) => readFile(resolve(configDir, file))));
    if (cert && key) return { cert, key };
  }
  const all = ['localhost', '127.0.0.1', ...names];
  return issueCertificate({
    ca: await authorityIn(dir),
    commonName: 'sagong-cloud',
    dnsNames: all.filter((name) => isIP(name) === 0),
    ips: all.filter((name) => isIP(name) !== 0),
    usages: ['server auth'],
    days: servingDays,
  });
}

async function tokenIn(path: string): Promise<string> {
  const known = (await readFileIfExists(path))?.toString('utf8').trim();
  if (known) return known;
  const made = randomToken();
  await atomicWrite(path, `${made}\n`);
  return made;
}

/** The configured accounts, or a customer and a service whose tokens are in `<id>.token`. */
export async function accountsOf(dir: string, configDir: string, { accounts }: CloudConfig): Promise<CloudAccount[]> {
  if (accounts)
    return Promise.all(
      accounts.map(async ({ id, role, token, tokenFile }) => {
        if ((token === undefined) === (tokenFile === undefined)) throw new Error(`account ${id}: needs a token or a tokenFile`);
        return { id, role, token: token ?? (await readFile(resolve(configDir, tokenFile ?? ''), 'utf8')).trim() };
      }),
    );
  return Promise.all([
    tokenIn(join(dir, 'customer.token')).then((token) => ({ id: 'customer', role: 'customer' as const, token })),
    tokenIn(join(dir, 'sagong.token')).then((token) => ({ id: 'sagong', role: 'service' as const, token })),
  ]);
}

/** The port it had before; 0 at first. */
export async function keptPort(dir: string): Promise<number> {
  const text = (await readFileIfExists(join(dir, 'port')))?.toString('utf8') ?? '';
  return /^\d+\s*$/.test(text) ? Number(text) : 0;
}
export const keepPort = (dir: string, port: number): Promise<void> =>
  atomicWrite(join(dir, 'port'), `${port}\n`, { mode: 0o644 });
