// Whose a snapshot is: every namespace of a cluster has the cluster's authority in a ConfigMap, and data is of use only where that authority is.
import { join } from 'node:path';
import { readFileIfExists } from '#host';
import { parseCertificate } from '#pki';
import { readSnapshotValue } from '#store';
import { clusterPaths } from './paths.ts';

const key = '/registry/configmaps/kube-system/kube-root-ca.crt';
const certificate = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** The fingerprints of certificates in a stored object, in protobuf or JSON. An object that cannot be read gives none. */
function fingerprints(stored: Uint8Array): string[] {
  const text = Buffer.from(stored).toString('latin1').replaceAll('\\n', '\n');
  return (text.match(certificate) ?? []).flatMap((pem) => {
    try {
      return [parseCertificate(pem).fingerprint];
    } catch {
      return [];
    }
  });
}

/** Rejects with a sentence when the snapshot says that it is of another cluster than the one in `dataDir`. One that does not say whose it is passes. */
export async function assertOwnSnapshot(dataDir: string, file: string): Promise<void> {
  const path = join(clusterPaths(dataDir).pki, 'ca.crt');
  const own = await readFileIfExists(path);
  const stored = await readSnapshotValue(file, key);
  if (!own || !stored) return;
  const known = fingerprints(stored);
  if (known.length === 0 || known.some((one) => fingerprints(own).includes(one))) return;
  throw new Error(
    `${file} is of another cluster: its authority is not ${path}, so nodes and tokens of its time would not be believed; restore with the folder pki that belongs to it, or go on with --force`,
  );
}
