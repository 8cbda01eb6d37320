// What a control-plane machine needs to boot, as a vendor's image and user data would bring it: certificates, kubeconfigs and configuration in its
// folder (https://kubernetes.io/docs/setup/best-practices/certificates/). Certificates that are good for long yet stay as they are.
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { dirname, join } from 'node:path';
import { formatKubeconfig, kubeconfigFor } from '#client';
import { ensureDir } from '#host';
import { type CertificateAndKey, isKeyOf, issueCertificate, parseCertificate, type SubjectOptions } from '#pki';
import type { Clock } from '#utils';
import { authorityAt, type ClusterPki, clientConfigFor, kubeletTrust, serverNames } from '../certificates/certificates.ts';
import { secretEncryption } from '../certificates/secret-encryption.ts';
import { cloudDir, controlPlaneConfigPath } from '../state/paths.ts';
import { type Identity, identities } from '../certificates/identities.ts';
import { type ControlPlaneConfig, controlPlaneFiles } from './config.ts';
import { apiPort } from './names.ts';
import { type OwnFolder, ownFolder } from './own-folder.ts';
import { kubeletClientName } from '../objects/kubelet-client.ts';

const days = 365;

export interface DiskOptions {
  dataDir: string;
  /** The folder with the cluster's authorities. */
  pkiDir: string;
  pki: ClusterPki;
  /** Addresses and names under which the apiservers are found, beside their own. */
  endpoints: readonly string[];
  clock: Clock;
}

/** The authority of etcd alone: a client whose certificate it has signed may do everything in etcd, and nobody else anything. */
export const etcdAuthority = (pkiDir: string) => authorityAt(join(pkiDir, 'etcd'), 'ca', 'etcd-ca');

interface Wanted extends SubjectOptions {
  files: { cert: string; key: string };
  issue(subject: SubjectOptions): CertificateAndKey;
}

const sameNames = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((name) => b.includes(name));

/** Whether it has its key, which a renewal that was cut off may have left without it, is for the same names, and has more than half of its life before it. */
function isGood({ cert, key }: CertificateAndKey, { dnsNames, ips, commonName }: Wanted, now: number): boolean {
  try {
    const { notBefore, notAfter, publicKey, ...names } = parseCertificate(cert);
    const left = Number(notAfter) - now;
    return (
      isKeyOf(key, publicKey) &&
      left > (Number(notAfter) - Number(notBefore)) / 2 &&
      names.subject.commonName === commonName &&
      sameNames(names.dnsNames, dnsNames) &&
      sameNames(names.ips, ips)
    );
  } catch {
    return false;
  }
}

async function write({ files, issue, ...subject }: Wanted, folder: OwnFolder, clock: Clock): Promise<void> {
  const [known, itsKey] = await Promise.all([files.cert, files.key].map(folder.read));
  if (known && itsKey && isGood({ cert: known, key: itsKey }, { files, issue, ...subject }, clock.now())) return;
  const { cert, key } = issue(subject);
  await folder.write(files.key, key, 0o600);
  await folder.write(files.cert, cert, 0o644);
}

/** All certificates of a machine. */
async function certificatesOf(
  { name, address, directory, etcdOnly }: ControlPlaneConfig,
  options: DiskOptions,
): Promise<Wanted[]> {
  const { pki, pkiDir, endpoints } = options;
  const files = controlPlaneFiles(directory);
  const etcd = await etcdAuthority(pkiDir);
  const byEtcd =
    (...usages: ('server auth' | 'client auth')[]) =>
    (subject: SubjectOptions): CertificateAndKey =>
      issueCertificate({ ca: etcd, ...subject, usages, days });
  const own = { commonName: name, dnsNames: [name, 'localhost'], ips: [address, '127.0.0.1'] };
  const isAddress = (endpoint: string): boolean => isIP(endpoint) !== 0;
  const serving = serverNames(
    [name, ...endpoints.filter((endpoint) => !isAddress(endpoint))],
    [address, ...endpoints.filter(isAddress)],
  );
  // A member is a client of the others, and of itself.
  const member: Wanted[] = [
    { files: files.etcdServer, ...own, issue: byEtcd('server auth', 'client auth') },
    { files: files.etcdPeer, ...own, issue: byEtcd('server auth', 'client auth') },
  ];
  if (etcdOnly) return member;
  return [
    {
      files: files.apiserver,
      commonName: 'kube-apiserver',
      ...serving,
      issue: ({ commonName }) => pki.serving(commonName, serving),
    },
    { files: files.kubeletClient, commonName: kubeletClientName, issue: ({ commonName }) => pki.client(commonName) },
    { files: files.frontProxyClient, commonName: 'front-proxy-client', issue: () => pki.frontProxyClient() },
    { files: files.etcdClient, commonName: 'kube-apiserver-etcd-client', issue: byEtcd('client auth') },
    ...member,
  ];
}

async function writeCloudConfig(dataDir: string, target: string, folder: OwnFolder): Promise<void> {
  const from = join(cloudDir(dataDir), 'config');
  for (const name of ['cloud-config.yaml', 'token', 'ca.crt']) {
    const { mode } = await stat(join(from, name));
    await folder.write(join(dirname(target), name), await readFile(join(from, name), 'utf8'), mode & 0o777);
  }
}

const pairFiles = (files: CertificateAndKey, { cert, key }: CertificateAndKey): [string, string, number][] => [
  [files.cert, cert, 0o644],
  [files.key, key, 0o600],
];

/** Gives the machine the cluster's configuration of encryption at rest. */
export async function keepEncryption(pkiDir: string, { directory, encryptionConfig }: ControlPlaneConfig): Promise<void> {
  if (encryptionConfig === undefined) return;
  const { path } = await secretEncryption(pkiDir);
  await ownFolder(directory).write(encryptionConfig, await readFile(path, 'utf8'), 0o600);
}

/** Makes the machine's folder what it is to be. What etcd has stored is not touched. */
export async function prepareControlPlane(config: ControlPlaneConfig, options: DiskOptions): Promise<void> {
  const { dataDir, pki, pkiDir, clock } = options;
  const files = controlPlaneFiles(config.directory);
  await ensureDir(dirname(config.directory));
  const folder = ownFolder(config.directory);
  for (const dir of [config.directory, files.pki, files.logs, ...(config.etcdData ? [] : [files.etcdData])])
    await folder.make(dir);
  const etcd = await etcdAuthority(pkiDir);
  const { authority, frontProxyAuthority, kubeletAuthority, serviceAccount } = pki;
  await folder.write(files.etcdCa, etcd.cert, 0o644);
  for (const wanted of await certificatesOf(config, options)) await write(wanted, folder, clock);
  await folder.write(controlPlaneConfigPath(config.directory), JSON.stringify(config, null, 2), 0o600);
  if (config.etcdOnly) return;
  for (const [path, text, mode] of [
    [files.ca, authority.cert, 0o644],
    [files.caKey, authority.key, 0o600],
    [files.kubeletTrust, kubeletTrust(pki), 0o644],
    ...(kubeletAuthority ? pairFiles(files.kubeletAuthority, kubeletAuthority) : []),
    [files.frontProxyCa, frontProxyAuthority.cert, 0o644],
    [files.serviceAccountPublic, serviceAccount.publicKey, 0o644],
    [files.serviceAccountPrivate, serviceAccount.privateKey, 0o600],
  ] as const)
    await folder.write(path, text, mode);
  const server = `https://127.0.0.1:${config.port ?? apiPort}`;
  const kubeconfig = (path: string, identity: Identity): Promise<void> =>
    folder.write(path, formatKubeconfig(kubeconfigFor(config.cluster, clientConfigFor(pki, identity, server))), 0o600);
  if (config.etcdData !== undefined) await kubeconfig(files.admin, identities.admin);
  await kubeconfig(files.controllerManager, identities.controllerManager);
  await kubeconfig(files.scheduler, identities.scheduler);
  await kubeconfig(files.cloudControllerManager, identities.controller('cloud-controller-manager'));
  if (config.cloud) await writeCloudConfig(dataDir, files.cloudConfig, folder);
}
