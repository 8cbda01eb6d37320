// What the cloud of a cluster is, chosen at its first start and kept in `<data-dir>/cloud`: its certificate, the tokens of its accounts, its public
// addresses.
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { formatYaml } from '#apimachinery/codec';
import { atomicWrite, readFileIfExists } from '#host';
import { authorityAt } from '../certificates/certificates.ts';
import { cloudDir, clusterMark } from '../state/paths.ts';
import { issueCertificate } from '#pki';
import { cloudApiName, region, zones } from './names.ts';

/** Kept in `cloud.json`. */
interface Kept {
  /** The port of the API on loopback; 0 picks a free one at the first start. */
  port: number;
  /** Public addresses, as the machine sees them. */
  publicCidr: string;
}

export interface CloudSettings extends Kept {
  /** Absolute. */
  dir: string;
  mark: string;
  region: string;
  zones: string[];
  /** Accounts: the cluster's owner, and the service that manages control planes. */
  customerToken: string;
  serviceToken: string;
  customerTokenFile: string;
  caFile: string;
  ca: string;
  serving: { cert: string; key: string };
}

const servingDays = 365;

/**
 * A /24 of the range for network tests (RFC 2544: 198.18.0.0/15), by the cluster's mark: nothing on the internet has it, and private networks
 * rarely do. `taken` are CIDRs that the machine has routes to.
 */
export function freePublicCidr(mark: string, taken: ReadonlySet<string>): string {
  for (let step = 0; step < 512; step++) {
    const block = (Number.parseInt(mark, 16) + step) % 512;
    const cidr = `198.${18 + (block >> 8)}.${block & 255}.0/24`;
    if (!taken.has(cidr)) return cidr;
  }
  throw new Error('every block of public addresses (198.18.0.0/15) is in use by another cluster');
}

async function secretAt(path: string): Promise<string> {
  const known = (await readFileIfExists(path))?.toString('utf8').trim();
  if (known !== undefined && /^[\w.~+/=-]{8,}$/.test(known)) return known;
  if (known !== undefined) throw new Error(`${path} is damaged: it holds no token; restore it, or remove it for a new one`);
  const made = randomBytes(32).toString('base64url');
  await atomicWrite(path, `${made}\n`, { mode: 0o600 });
  return made;
}

async function kept(dir: string, mark: string, routes: () => Promise<ReadonlySet<string>>): Promise<Kept> {
  const path = join(dir, 'cloud.json');
  const text = (await readFileIfExists(path))?.toString('utf8');
  if (text === undefined) return { port: 0, publicCidr: freePublicCidr(mark, await routes()) };
  try {
    const settings = JSON.parse(text) as Partial<Kept> | null;
    if (typeof settings?.publicCidr === 'string' && Number.isInteger(settings.port)) return settings as Kept;
    throw new Error('port or publicCidr missing');
  } catch (error) {
    throw new Error(`${path} is not readable (${(error as Error).message}): restore it`, { cause: error });
  }
}

/** Opens or chooses. `routes` lists the machine's routed CIDRs. */
export async function openCloudSettings(dataDir: string, routes: () => Promise<ReadonlySet<string>>): Promise<CloudSettings> {
  const dir = cloudDir(dataDir);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const mark = clusterMark(dataDir);
  const customerTokenFile = join(dir, 'customer.token');
  const [customerToken, serviceToken, authority, settings] = await Promise.all([
    secretAt(customerTokenFile),
    secretAt(join(dir, 'service.token')),
    authorityAt(dir, 'ca', 'sagong-cloud'),
    kept(dir, mark, routes),
  ]);
  const serving = issueCertificate({
    ca: authority,
    commonName: cloudApiName,
    dnsNames: [cloudApiName, 'localhost'],
    ips: ['127.0.0.1'],
    usages: ['server auth'],
    days: servingDays,
  });
  return {
    ...settings,
    dir,
    mark,
    region,
    zones,
    customerToken,
    serviceToken,
    customerTokenFile,
    caFile: join(dir, 'ca.crt'),
    ca: authority.cert,
    serving,
  };
}

/**
 * Writes what a cloud-controller-manager in a pod is given: `<data-dir>/cloud/config`, a folder to make a Secret of. `config` is the provider's,
 * without the way to the API.
 */
export async function writePodConfig({ dir, customerToken, ca }: CloudSettings, config: Record<string, unknown>): Promise<void> {
  const folder = join(dir, 'config');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const whole = { url: `https://${cloudApiName}`, tokenFile: 'token', caFile: 'ca.crt', ...config };
  await atomicWrite(join(folder, 'cloud-config.yaml'), formatYaml(whole), { mode: 0o600 });
  await atomicWrite(join(folder, 'token'), customerToken, { mode: 0o600 });
  await atomicWrite(join(folder, 'ca.crt'), ca, { mode: 0o600 });
}

export const keepCloudSettings = ({ dir, port, publicCidr }: CloudSettings): Promise<void> =>
  atomicWrite(join(dir, 'cloud.json'), `${JSON.stringify({ port, publicCidr }, null, 2)}\n`, { mode: 0o600 });
