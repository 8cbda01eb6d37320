// `sagong certs check|renew|upload`, as kubeadm's `certs check-expiration`, `certs renew all` and `init phase upload-certs`.
import {
  adminClient,
  certificateTables,
  clusterFlags,
  clusterPaths,
  dataDirOf,
  joinable,
  loadSettings,
  newCertificateKey,
  renewCertificates,
  textTable,
  uploadCertificates,
} from '#cluster';
import { systemClock } from '#host';
import { say } from '../process/say.ts';

interface Flags {
  name: string;
  dataDir?: string;
}

async function clusterDir({ name, dataDir }: Flags): Promise<{ dir: string; flags: string }> {
  const dir = dataDirOf(name, dataDir);
  const settings = await loadSettings(dir);
  // A machine that has joined as a control plane has certificates in the same places.
  if (!settings) await joinable(dir);
  return { dir, flags: clusterFlags(settings?.name ?? name, dir) };
}

export async function runCertsCheck(given: Flags): Promise<void> {
  const { dir } = await clusterDir(given);
  const { certificates, authorities } = await certificateTables(dir, systemClock());
  say(textTable(['CERTIFICATE', 'EXPIRES', 'RESIDUAL TIME', 'CERTIFICATE AUTHORITY', 'EXTERNALLY MANAGED'], certificates));
  say('');
  say(textTable(['CERTIFICATE AUTHORITY', 'EXPIRES', 'RESIDUAL TIME', 'EXTERNALLY MANAGED'], authorities));
}

/** Renews the certificate with this name, or all of them. */
export async function runCertsRenew(which: string, given: Flags): Promise<void> {
  const { dir, flags } = await clusterDir(given);
  const renewed = await renewCertificates(dir, ({ name }) => which === 'all' || name === which);
  if (renewed.length === 0)
    throw new Error(`there is no certificate ${JSON.stringify(which)}; see them with: sagong certs check${flags}`);
  for (const name of renewed) say(`certificate ${name} renewed`);
  say('Done. What runs with them takes the new ones by itself, one control-plane machine after the other.');
}

export const notGrowing =
  'the control plane of this cluster is one process with a store of its own, which no other machine can share: `sagong stop` and `sagong up --control-planes 1` move its data to etcd';

/** Prints the key, with which a machine gets them when it joins as a control plane. */
export async function runCertsUpload({ certificateKey = newCertificateKey(), ...given }: Flags & { certificateKey?: string }) {
  const { dir } = await clusterDir(given);
  const { growing } = await joinable(dir);
  if (!growing) throw new Error(notGrowing);
  const clock = systemClock();
  const client = adminClient(dir, clock);
  try {
    await uploadCertificates(client, clusterPaths(dir).pki, certificateKey, clock);
  } finally {
    client.close();
  }
  process.stderr.write('Storing the certificates in Secret "kubeadm-certs" in the "kube-system" Namespace, for two hours\n');
  process.stderr.write('Using certificate key:\n');
  say(certificateKey);
}
