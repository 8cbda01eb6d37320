// How a further control plane gets the cluster's authorities, as kubeadm hands them over
// (https://kubernetes.io/docs/reference/setup-tools/kubeadm/kubeadm-init/#uploading-control-plane-certificates-to-the-cluster): in the Secret
// `kubeadm-certs`, encrypted with a key that is in no cluster, and owned by a token of two hours, with which it goes.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Secret } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import type { KubeClient } from '#client';
import { atomicWrite, ensureDir, readFileIfExists, removeTree } from '#host';
import { bootstrapToken } from '#pki';
import type { Clock } from '#utils';
import { type ClusterPki, openPki } from '../certificates/certificates.ts';
import { kubeletAuthorityName } from '../certificates/names.ts';
import { certificatesSecret } from './objects.ts';
import { createToken } from './tokens.ts';
import { parseToken, tokenSecretName } from './token-text.ts';

const secrets = { group: '', version: 'v1', resource: 'secrets' };
const namespace = 'kube-system';
/** How long what was uploaded can be had. */
const uploadTtlMs = 2 * 3_600_000;
/** Below the folder of certificates; in the Secret '-' stands for '/'. */
const files = [
  'ca.crt',
  'ca.key',
  'etcd/ca.crt',
  'etcd/ca.key',
  'front-proxy-ca.crt',
  'front-proxy-ca.key',
  'sa.key',
  'sa.pub',
] as const;
/** Ours alone: the key by which Secrets are encrypted in the store, where they are. */
const encryptionFile = 'encryption.json';
/** And the authority of kubelets, which older clusters do not have. */
const optionalFiles: readonly string[] = [encryptionFile, `${kubeletAuthorityName}.crt`, `${kubeletAuthorityName}.key`];
const allFiles = [...files, ...optionalFiles];
const keyOf = (file: string): string => file.replaceAll('/', '-');

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

export const newCertificateKey = (): string => randomBytes(keyBytes).toString('hex');

/** Reads the key of uploaded certificates. Throws a sentence for a text that is not one. */
export function parseCertificateKey(text: string): Buffer {
  if (!/^[0-9a-fA-F]+$/.test(text) || text.length % 2 !== 0)
    throw new Error('the certificate key is not hexadecimal; make one with: sagong certs upload');
  const key = Buffer.from(text, 'hex');
  if (key.length !== keyBytes)
    throw new Error(`invalid certificate key: it has ${key.length} bytes, and must have ${keyBytes} (AES-256)`);
  return key;
}

/** Encrypts with AES-256-GCM. The result is the nonce, what is hidden, and the tag. */
export function encrypt(content: Buffer, key: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}

/** Throws when it was encrypted with another key. */
export function decrypt(hidden: Buffer, key: Buffer): Buffer {
  if (hidden.length < nonceBytes + tagBytes) throw new Error('it is too short');
  const decipher = createDecipheriv('aes-256-gcm', key, hidden.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAuthTag(hidden.subarray(-tagBytes));
  return Buffer.concat([decipher.update(hidden.subarray(nonceBytes, -tagBytes)), decipher.final()]);
}

/** Puts the authorities of `pkiDir` into the cluster, in the place of what was uploaded before. */
export async function uploadCertificates(
  client: KubeClient,
  pkiDir: string,
  certificateKey: string,
  clock: Clock,
): Promise<void> {
  const key = parseCertificateKey(certificateKey);
  const data: Record<string, string> = {};
  for (const file of allFiles) {
    const content = await readFileIfExists(join(pkiDir, file));
    if (content) data[keyOf(file)] = encrypt(content, key).toString('base64');
    else if (!optionalFiles.includes(file)) throw new Error(`${join(pkiDir, file)} is missing`);
  }
  const token = bootstrapToken();
  const description = 'Proxy for managing TTL for the kubeadm-certs secret';
  await createToken(client, { token, ttlMs: uploadTtlMs, description, usages: [], groups: [] }, clock);
  const name = tokenSecretName(parseToken(token).id);
  const owner = await client.resource<Secret>(secrets, namespace).get(name);
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: certificatesSecret,
      namespace,
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Secret', name, uid: owner.metadata.uid ?? '', blockOwnerDeletion: true, controller: true },
      ],
    },
    type: 'Opaque',
    data,
  };
  await client
    .resource<Secret>(secrets, namespace)
    .delete(certificatesSecret)
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  await client.resource<Secret>(secrets, namespace).create(secret);
}

/** The uploaded authorities, by their files. Rejects with a sentence. */
export async function downloadCertificates(client: KubeClient, certificateKey: string): Promise<Map<string, Buffer>> {
  const key = parseCertificateKey(certificateKey);
  const { data = {} } = await client
    .resource<Secret>(secrets, namespace)
    .get(certificatesSecret)
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      throw new Error(
        `Secret "${certificatesSecret}" was not found in the "${namespace}" Namespace. This Secret might have expired. Upload the certificates again on a control plane: sagong certs upload`,
        { cause: error },
      );
    });
  const found = new Map<string, Buffer>();
  for (const file of allFiles) {
    const hidden = data[keyOf(file)];
    if (hidden === undefined && optionalFiles.includes(file)) continue;
    try {
      found.set(file, decrypt(Buffer.from(hidden ?? '', 'base64'), key));
    } catch (error) {
      throw new Error(`error decoding secret data of ${file} with the provided certificate key: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  return found;
}

export interface Authorities {
  pki: ClusterPki;
  /** The cluster encrypts Secrets in its store, with a key that is among them. */
  encryptSecrets: boolean;
}

/** Writes them below `pkiDir`, with kubeadm's names. Where they cannot be used, nothing of them stays: this machine is no part of the cluster. */
export async function keepAuthorities(pkiDir: string, found: ReadonlyMap<string, Buffer>): Promise<Authorities> {
  try {
    for (const [file, content] of found) {
      const path = join(pkiDir, file);
      await ensureDir(dirname(path));
      await atomicWrite(path, content, { mode: /\.(crt|pub)$/.test(file) ? 0o644 : 0o600 });
    }
    return { pki: await openPki(pkiDir), encryptSecrets: found.has(encryptionFile) };
  } catch (error) {
    await removeTree(pkiDir);
    throw error;
  }
}
