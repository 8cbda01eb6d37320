// `sagong certs`: every certificate that a cluster keeps on this machine, how long it is good, and new ones in their places
// (https://kubernetes.io/docs/tasks/administer-cluster/kubeadm/kubeadm-certs/).
import { join } from 'node:path';
import { formatKubeconfig, parseKubeconfig } from '#client';
import { readFileIfExists } from '#host';
import {
  type CertificateAndKey,
  type CertificateAuthority,
  isKeyOf,
  issueCertificate,
  isSignedBy,
  loadCertificateAuthority,
  type ParsedCertificate,
  parseCertificate,
} from '#pki';
import type { Clock } from '#utils';
import { type CertificateFolder, certificateFolders } from './certificate-folders.ts';
import { kubeletAuthorityName } from '../certificates/names.ts';
import { cloudDir, clusterPaths } from '../state/paths.ts';

export interface KeptCertificate {
  /** Below the data directory, without its ending. */
  name: string;
  certificate: ParsedCertificate;
  /** Name of the authority; '' for one that is not here. */
  authority: string;
  /** The key beside it is that of another one: a renewal was cut off between the two. */
  foreignKey: boolean;
  /** Puts another one in its place. */
  replace(pair: CertificateAndKey): Promise<void>;
}

export interface KeptAuthority {
  name: string;
  authority: CertificateAuthority;
}

const days = 365;

/** The certificate authorities of the cluster that are on this machine, with their keys. */
export async function clusterAuthorities(dataDir: string): Promise<KeptAuthority[]> {
  const { pki } = clusterPaths(dataDir);
  const places: [string, string][] = [
    ['ca', join(pki, 'ca')],
    ['front-proxy-ca', join(pki, 'front-proxy-ca')],
    [kubeletAuthorityName, join(pki, kubeletAuthorityName)],
    ['etcd-ca', join(pki, 'etcd', 'ca')],
    ['cloud-ca', join(cloudDir(dataDir), 'ca')],
  ];
  const found = await Promise.all(
    places.map(async ([name, path]) => {
      const [cert, key] = await Promise.all([readFileIfExists(`${path}.crt`), readFileIfExists(`${path}.key`)]);
      if (!cert || !key) return [];
      return [{ name, authority: loadCertificateAuthority({ cert: cert.toString('utf8'), key: key.toString('utf8') }) }];
    }),
  );
  return found.flat();
}

interface Found {
  /** Below the data directory, without its ending. */
  name: string;
  cert: string;
  /** Undefined: there is none. */
  key: string | undefined;
  replace: KeptCertificate['replace'];
}

async function certificateFile(folder: CertificateFolder, file: string): Promise<Found | undefined> {
  const cert = await folder.read(file);
  if (cert === undefined) return undefined;
  const keyFile = file.replace(/\.crt$/, '.key');
  return {
    name: join(folder.name, file.replace(/\.crt$/, '')),
    cert,
    key: await folder.read(keyFile),
    async replace(pair) {
      await folder.write(keyFile, pair.key, 0o600);
      await folder.write(file, pair.cert, 0o644);
    },
  };
}

async function kubeconfigFile(folder: CertificateFolder, file: string): Promise<Found | undefined> {
  const text = await folder.read(file);
  if (text === undefined) return undefined;
  const config = parseKubeconfig(text, file);
  const { 'client-certificate-data': data, 'client-key-data': key } = config.users[0]?.user ?? {};
  if (data === undefined) return undefined;
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  const decode = (text: string): string => Buffer.from(text, 'base64').toString('utf8');
  return {
    name: join(folder.name, file),
    cert: decode(data),
    key: key === undefined ? undefined : decode(key),
    async replace({ cert, key }) {
      const users = config.users.map(({ name, user }) => ({
        name,
        user: { ...user, 'client-certificate-data': encode(cert), 'client-key-data': encode(key) },
      }));
      await folder.write(file, formatKubeconfig({ ...config, users }), 0o600);
    },
  };
}

const isKubeconfig = (name: string): boolean => name === 'kubeconfig' || /\.(conf|kubeconfig)$/.test(name);

/** What a file holds, with who signed it; undefined for an authority, and for what is no certificate that is kept in the folder. */
async function keptIn(
  folder: CertificateFolder,
  file: string,
  authorities: readonly KeptAuthority[],
): Promise<KeptCertificate | undefined> {
  try {
    const found = await (file.endsWith('.crt') ? certificateFile(folder, file) : kubeconfigFile(folder, file));
    if (!found) return undefined;
    const certificate = parseCertificate(found.cert);
    if (certificate.isCa || !folder.keeps(certificate.subject.commonName)) return undefined;
    return {
      name: found.name,
      certificate,
      authority: authorities.find(({ authority }) => isSignedBy(certificate, authority.certificate))?.name ?? '',
      foreignKey: found.key !== undefined && !isKeyOf(found.key, certificate.publicKey),
      replace: found.replace,
    };
  } catch (error) {
    if (folder.shared) return undefined;
    throw error;
  }
}

/** All certificates of the cluster that are no authorities. Certificates of joined machines are renewed by the machines themselves. */
export async function clusterCertificates(dataDir: string): Promise<KeptCertificate[]> {
  const authorities = await clusterAuthorities(dataDir);
  const kept: KeptCertificate[] = [];
  for (const folder of await certificateFolders(dataDir))
    for (const file of (await folder.names()).sort()) {
      if (!file.endsWith('.crt') && !isKubeconfig(file)) continue;
      const one = await keptIn(folder, file, authorities);
      if (one) kept.push(one);
    }
  return kept;
}

/** Issues the certificate again, for the same subject, names and purposes, with a new key. */
function issuedAgain(
  { subject, dnsNames, ips, emails, uris, usages }: ParsedCertificate,
  ca: CertificateAuthority,
): CertificateAndKey {
  const { commonName, organizations } = subject;
  return issueCertificate({ ca, commonName, organizations, dnsNames, ips, emails, uris, usages, days });
}

/** Puts new ones in the places of those that `which` chooses; gives their names. */
export async function renewCertificates(dataDir: string, which: (certificate: KeptCertificate) => boolean): Promise<string[]> {
  const authorities = new Map((await clusterAuthorities(dataDir)).map(({ name, authority }) => [name, authority]));
  const renewed: string[] = [];
  for (const kept of (await clusterCertificates(dataDir)).filter(which)) {
    const authority = authorities.get(kept.authority);
    if (!authority) continue;
    await kept.replace(issuedAgain(kept.certificate, authority));
    renewed.push(kept.name);
  }
  return renewed;
}

/** Whether less than half of the certificate's life is left, which is long before it ends, or its key is another one's. */
export const isAging = ({ certificate: { notBefore, notAfter }, foreignKey }: KeptCertificate, clock: Clock): boolean =>
  foreignKey || notAfter - clock.now() < (notAfter - notBefore) / 2;

const units: [number, string, number][] = [
  [1_000, 's', 60_000],
  [60_000, 'm', 3_600_000],
  [3_600_000, 'h', 86_400_000],
  [86_400_000, 'd', 365 * 86_400_000],
];
/** The time that a certificate has left, in kubeadm's form. */
export function residual(ms: number): string {
  if (ms < -1_000) return '<invalid>';
  const unit = units.find(([, , below]) => ms < below);
  return unit ? `${Math.max(0, Math.floor(ms / unit[0]))}${unit[1]}` : `${Math.floor(ms / (365 * 86_400_000))}y`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (value: number): string => String(value).padStart(2, '0');
const when = (ms: number): string => {
  const at = new Date(ms);
  return `${months[at.getUTCMonth()]} ${two(at.getUTCDate())}, ${at.getUTCFullYear()} ${two(at.getUTCHours())}:${two(at.getUTCMinutes())} UTC`;
};

/** The rows of the two tables of `kubeadm certs check-expiration`: certificates, and authorities. */
export async function certificateTables(
  dataDir: string,
  clock: Clock,
): Promise<{ certificates: string[][]; authorities: string[][] }> {
  const now = clock.now();
  const certificates = (await clusterCertificates(dataDir)).map(({ name, certificate: { notAfter }, authority }) => [
    name,
    when(notAfter),
    residual(notAfter - now),
    authority,
    authority === '' ? 'yes' : 'no',
  ]);
  const authorities = (await clusterAuthorities(dataDir)).map(({ name, authority: { certificate } }) => [
    name,
    when(certificate.notAfter),
    residual(certificate.notAfter - now),
    'no',
  ]);
  return { certificates, authorities };
}
