// The certificates of a cluster (https://kubernetes.io/docs/setup/best-practices/certificates/): made once, kept in `<data-dir>/pki` with
// keys of mode 0600. Every component has an identity of its own with upstream's names.
import { join } from 'node:path';
import { atomicWrite, readFileIfExists } from '#host';
import {
  type CertificateAndKey,
  type CertificateAuthority,
  createCertificateAuthority,
  generateKeyPair,
  issueCertificate,
  loadCertificateAuthority,
  parsePrivateKey,
  parsePublicKeys,
  privateKeyPem,
  publicKeyPem,
} from '#pki';
import type { ClientConfig } from '#client';
import type { Identity } from './identities.ts';
import { clusterNetworks } from '../state/networks.ts';
import { kubeletAuthorityName } from './names.ts';

const clientDays = 365;
const authorityDays = 3650;

export interface ClusterPki {
  authority: CertificateAuthority;
  frontProxyAuthority: CertificateAuthority;
  /**
   * The authority that signs the serving certificates of kubelets. Only the apiserver trusts it, so that nobody who gets such a certificate can pose
   * as an apiserver. Absent in clusters that were made before it existed, where `authority` signs these too.
   */
  kubeletAuthority: CertificateAuthority | undefined;
  serviceAccount: { publicKey: string; privateKey: string };
  /** A serving certificate; made anew at every start, because names and addresses may change. */
  serving(commonName: string, names: { dnsNames?: string[]; ips?: string[] }): CertificateAndKey;
  /** A client identity. */
  client(commonName: string, organizations?: string[]): CertificateAndKey;
  frontProxyClient(): CertificateAndKey;
}

/**
 * What is kept in two files, the public and the private half; undefined where neither was ever written whole. Rejects with a sentence that names them
 * where one is lost or damaged: others believe what is in the public one, so no other pair may take its place.
 */
async function keptPair<T>(
  publicPath: string,
  privatePath: string,
  read: (pub: string, key: string) => T,
): Promise<T | undefined> {
  const [pub, key] = await Promise.all([readFileIfExists(publicPath), readFileIfExists(privatePath)]);
  // The private half is written first: without the other it was never used.
  if (!pub) return undefined;
  if (!key) throw new Error(`${privatePath} is missing, which ${publicPath} belongs to: restore it`);
  try {
    return read(pub.toString('utf8'), key.toString('utf8'));
  } catch (error) {
    const why = (error as Error).message;
    throw new Error(`${publicPath} or ${privatePath} is damaged (${why}): restore both`, { cause: error });
  }
}

/** The authority kept in `dir` as `<name>.crt` and `<name>.key`. */
const keptAuthority = (dir: string, name: string): Promise<CertificateAuthority | undefined> =>
  keptPair(join(dir, `${name}.crt`), join(dir, `${name}.key`), (cert, key) => loadCertificateAuthority({ cert, key }));

/** The authority kept in `dir` as `<name>.crt` and `<name>.key`; made when missing. */
export async function authorityAt(dir: string, name: string, commonName: string): Promise<CertificateAuthority> {
  const kept = await keptAuthority(dir, name);
  if (kept) return kept;
  const made = createCertificateAuthority({ commonName, days: authorityDays });
  await atomicWrite(join(dir, `${name}.key`), made.key, { mode: 0o600 });
  await atomicWrite(join(dir, `${name}.crt`), made.cert, { mode: 0o644 });
  return made;
}

async function serviceAccountAt(dir: string): Promise<{ publicKey: string; privateKey: string }> {
  const kept = await keptPair(join(dir, 'sa.pub'), join(dir, 'sa.key'), (publicKey, privateKey) => {
    parsePublicKeys(publicKey);
    parsePrivateKey(privateKey);
    return { publicKey, privateKey };
  });
  if (kept) return kept;
  const made = newServiceAccount();
  await atomicWrite(join(dir, 'sa.key'), made.privateKey, { mode: 0o600 });
  await atomicWrite(join(dir, 'sa.pub'), made.publicKey, { mode: 0o644 });
  return made;
}

interface Authorities {
  authority: CertificateAuthority;
  frontProxyAuthority: CertificateAuthority;
  kubeletAuthority: CertificateAuthority | undefined;
  serviceAccount: { publicKey: string; privateKey: string };
}

const newServiceAccount = (): Authorities['serviceAccount'] => {
  const pair = generateKeyPair('ECDSA-P256');
  return { publicKey: publicKeyPem(pair.publicKey), privateKey: privateKeyPem(pair.privateKey) };
};

const pkiOf = ({ authority, frontProxyAuthority, kubeletAuthority, serviceAccount }: Authorities): ClusterPki => ({
  authority,
  frontProxyAuthority,
  kubeletAuthority,
  serviceAccount,
  serving: (commonName, names) =>
    issueCertificate({ ca: authority, commonName, ...names, usages: ['server auth'], days: clientDays }),
  client: (commonName, organizations = []) =>
    issueCertificate({ ca: authority, commonName, organizations, usages: ['client auth'], days: clientDays }),
  frontProxyClient: () =>
    issueCertificate({ ca: frontProxyAuthority, commonName: 'front-proxy-client', usages: ['client auth'], days: clientDays }),
});

/** What an apiserver's certificate is for, with further names and addresses. */
export const serverNames = (names: readonly string[], addresses: readonly string[]): { dnsNames: string[]; ips: string[] } => ({
  dnsNames: [
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${clusterNetworks.domain}`,
    ...names,
  ],
  ips: [...new Set(['127.0.0.1', clusterNetworks.kubernetesServiceIp, ...addresses])],
});

/** PEM, whose certificates kubelets may serve with; those from before there was an authority of their own count until they end. */
export const kubeletTrust = ({ authority, kubeletAuthority }: ClusterPki): string =>
  [authority, kubeletAuthority].map((one) => one?.cert ?? '').join('');

/**
 * Opens the certificates of the cluster in `dir`, making what is missing. An authority of kubelets is made for a new cluster, and for an older one only where
 * the caller is its `whole` control plane: other parts of it would not believe what a part has made for itself.
 */
export async function openPki(dir: string, { whole = false }: { whole?: boolean } = {}): Promise<ClusterPki> {
  const isNew = (await readFileIfExists(join(dir, 'ca.crt'))) === undefined;
  const [authority, frontProxyAuthority, kubeletAuthority, serviceAccount] = await Promise.all([
    authorityAt(dir, 'ca', 'kubernetes'),
    authorityAt(dir, 'front-proxy-ca', 'front-proxy-ca'),
    isNew || whole ? authorityAt(dir, kubeletAuthorityName, kubeletAuthorityName) : keptAuthority(dir, kubeletAuthorityName),
    serviceAccountAt(dir),
  ]);
  return pkiOf({ authority, frontProxyAuthority, kubeletAuthority, serviceAccount });
}

/** How programs connect over TLS as that identity. */
export function clientConfigFor(pki: ClusterPki, { name, groups }: Identity, server: string): ClientConfig {
  const pair = pki.client(
    name,
    groups.filter((group) => group !== 'system:authenticated'),
  );
  return { server, ca: pki.authority.cert, certificate: pair.cert, key: pair.key };
}

/** All that is secret in it, as text. */
export interface PkiKeys {
  authority: { cert: string; key: string };
  frontProxyAuthority: { cert: string; key: string };
  kubeletAuthority?: { cert: string; key: string };
  serviceAccount: { publicKey: string; privateKey: string };
}

const pairOf = ({ cert, key }: CertificateAuthority): { cert: string; key: string } => ({ cert, key });

export const keysOf = ({ authority, frontProxyAuthority, kubeletAuthority, serviceAccount }: ClusterPki): PkiKeys => ({
  authority: pairOf(authority),
  frontProxyAuthority: pairOf(frontProxyAuthority),
  ...(kubeletAuthority && { kubeletAuthority: pairOf(kubeletAuthority) }),
  serviceAccount: { ...serviceAccount },
});

/** The certificates of a cluster, made from keys that were kept. */
export const pkiFrom = ({ authority, frontProxyAuthority, kubeletAuthority, serviceAccount }: PkiKeys): ClusterPki =>
  pkiOf({
    authority: loadCertificateAuthority(authority),
    frontProxyAuthority: loadCertificateAuthority(frontProxyAuthority),
    kubeletAuthority: kubeletAuthority && loadCertificateAuthority(kubeletAuthority),
    serviceAccount,
  });

/** Makes certificates that live as long as the process. */
export const ephemeralPki = (): ClusterPki =>
  pkiOf({
    authority: createCertificateAuthority({ commonName: 'kubernetes', days: authorityDays }),
    frontProxyAuthority: createCertificateAuthority({ commonName: 'front-proxy-ca', days: authorityDays }),
    kubeletAuthority: createCertificateAuthority({ commonName: kubeletAuthorityName, days: authorityDays }),
    serviceAccount: newServiceAccount(),
  });
