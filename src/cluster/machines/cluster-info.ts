// What the public ConfigMap `cluster-info` says. It comes from a server that is not trusted yet, and is believed when the token signed it and its
// authority has the hash. Any other content is refused with one sentence. Pure.
import { parseYaml } from '#apimachinery/codec';
import { detachedJws, encodePem, type ParsedCertificate, parseCertificates, publicKeyDer, secretsEqual, sha256Hex } from '#pki';
import { parseToken } from '../joining/token-text.ts';
import { hashesToldMax } from './limits.ts';

/** Why somebody cannot be believed; trying again does not help. */
export class DiscoveryError extends Error {
  override name = 'DiscoveryError';
}

export interface Discovered {
  server: string;
  /** PEM. */
  ca: string;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What somebody sent, read as something; `complaint` when it is nothing of the kind. */
function readAs<T>(complaint: string, read: () => T | undefined): T {
  let value: T | undefined;
  try {
    value = read();
  } catch (error) {
    throw new DiscoveryError(complaint, { cause: error });
  }
  if (value === undefined) throw new DiscoveryError(complaint);
  return value;
}

const hashOf = ({ publicKey }: ParsedCertificate): string => `sha256:${sha256Hex(publicKeyDer(publicKey))}`;

/** What kubeadm calls the hash of an authority: of its public key (RFC 7469). */
export const authorityHashes = (ca: string): string[] => parseCertificates(ca).map(hashOf);

/** The entries of the ConfigMap, out of an answer's body. */
export function infoEntries(body: string): Record<string, string> {
  return readAs('what it answered is no ConfigMap', () => {
    const answer: unknown = JSON.parse(body);
    const data = isObject(answer) ? (answer['data'] ?? {}) : undefined;
    const isMap = isObject(data) && Object.values(data).every((value) => typeof value === 'string');
    return isMap ? (data as Record<string, string>) : undefined;
  });
}

/** The kubeconfig in it, once the token has signed it. Throws DiscoveryError; undefined: not signed yet. */
export function signedContent(entries: Readonly<Record<string, string>>, token: string): string | undefined {
  const { id, secret } = parseToken(token);
  const content = entries['kubeconfig'];
  const signature = entries[`jws-kubeconfig-${id}`];
  if (content === undefined) throw new DiscoveryError('there is no kubeconfig in cluster-info');
  if (signature === undefined) return undefined;
  if (!secretsEqual(signature, detachedJws(content, id, secret)))
    throw new DiscoveryError(`failed to verify the signature of cluster-info with the token "${id}": it is not of this cluster`);
  return content;
}

/** The first cluster that a kubeconfig names. */
function clusterIn(content: string): Record<string, unknown> | undefined {
  const { value } = parseYaml(content);
  const clusters = isObject(value) ? value['clusters'] : undefined;
  const first: unknown = Array.isArray(clusters) ? clusters[0] : undefined;
  return isObject(first) && isObject(first['cluster']) ? first['cluster'] : undefined;
}

const told = (hashes: readonly string[]): string =>
  hashes.length > hashesToldMax
    ? `${hashes.slice(0, hashesToldMax).join(':')} and ${hashes.length - hashesToldMax} more`
    : hashes.join(':');

/**
 * Server and authorities out of it, checked against the hashes. Where there are any, only authorities that have one of them are believed: whoever knows the
 * token could have put one of its own beside them.
 */
export function trusted(content: string, hashes: readonly string[]): Discovered {
  const cluster = readAs('the kubeconfig in cluster-info names no cluster', () => clusterIn(content));
  const { server, 'certificate-authority-data': data } = cluster;
  if (typeof server !== 'string' || typeof data !== 'string')
    throw new DiscoveryError('cluster-info names no server and authority');
  readAs('the server in cluster-info is no https:// address', () => (new URL(server).protocol === 'https:' ? server : undefined));
  const ca = Buffer.from(data, 'base64').toString('utf8');
  const found = readAs('the authority in cluster-info is no certificate', () =>
    parseCertificates(ca).map((authority) => ({ authority, hash: hashOf(authority) })),
  );
  if (hashes.length === 0) return { server, ca };
  const pinned = found.filter(({ hash }) => hashes.includes(hash));
  if (pinned.length === 0)
    throw new DiscoveryError(
      `cluster CA found in cluster-info ConfigMap is invalid: none of the public keys "${told(found.map(({ hash }) => hash))}" are pinned`,
    );
  return { server, ca: pinned.map(({ authority }) => encodePem('CERTIFICATE', authority.raw)).join('') };
}
