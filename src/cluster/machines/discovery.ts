// How a machine comes to trust a cluster that it knows by an address, a token and a hash (KEP-130; kubeadm's token-based discovery): the public
// ConfigMap `cluster-info` is read from whoever answers, believed when the token signed it and its authority has the hash, and read once more from a server
// that this authority vouches for.
import { createHash } from 'node:crypto';
import type { ConfigMap } from '#api/core/v1';
import { parseYaml } from '#apimachinery/codec';
import { createRestTransport, type ClientConfig } from '#client';
import { userAgent } from '#component-base';
import { detachedJws, parseCertificates, publicKeyDer, secretsEqual } from '#pki';
import type { Clock } from '#utils';
import { certificateClockProblem } from './clocks.ts';
import { parseToken } from '../joining/tokens.ts';
import { clusterInfoBytesMax, discoveryPollMs, discoveryTimeoutMs } from './limits.ts';

export interface Discovery {
  /** `10.0.0.1:6443`. */
  endpoint: string;
  token: string;
  /** `sha256:<hex>`; empty: whoever knows the token is believed. */
  hashes: readonly string[];
}

export interface Discovered {
  server: string;
  /** PEM. */
  ca: string;
}

/** What kubeadm calls the hash of an authority: of its public key (RFC 7469). */
export function authorityHashes(ca: string): string[] {
  return parseCertificates(ca).map(
    ({ publicKey }) => `sha256:${createHash('sha256').update(publicKeyDer(publicKey)).digest('hex')}`,
  );
}

/** Rejects when it cannot be believed. */
class DiscoveryError extends Error {
  override name = 'DiscoveryError';
}

async function readClusterInfo(config: ClientConfig, clock: Clock): Promise<ConfigMap> {
  const transport = createRestTransport({ config, clock, userAgent: userAgent('sagong') });
  try {
    const { status, text } = await transport.raw('GET', '/api/v1/namespaces/kube-public/configmaps/cluster-info?timeout=10s');
    if (status === 403 || status === 404 || status === 401)
      throw new Error(
        `the server ${config.server} does not publish how to join it; start it with: sagong up --advertise-address`,
      );
    if (status !== 200 || text.length > clusterInfoBytesMax) throw new Error(`the server ${config.server} answered ${status}`);
    return JSON.parse(text) as ConfigMap;
  } finally {
    transport.close();
  }
}

/** The kubeconfig in it, once the token has signed it. Throws DiscoveryError; undefined: not signed yet. */
export function signedContent({ data = {} }: ConfigMap, token: string): string | undefined {
  const { id, secret } = parseToken(token);
  const content = data['kubeconfig'];
  const signature = data[`jws-kubeconfig-${id}`];
  if (content === undefined) throw new DiscoveryError('there is no kubeconfig in cluster-info');
  if (signature === undefined) return undefined;
  if (!secretsEqual(signature, detachedJws(content, id, secret)))
    throw new DiscoveryError(`failed to verify the signature of cluster-info with the token "${id}": it is not of this cluster`);
  return content;
}

interface InfoKubeconfig {
  clusters?: { cluster?: { server?: string; 'certificate-authority-data'?: string } }[];
}

/** Server and authority out of it, checked against the hashes. */
export function trusted(content: string, hashes: readonly string[]): Discovered {
  const { cluster } = (parseYaml(content).value as InfoKubeconfig).clusters?.[0] ?? {};
  const ca = Buffer.from(cluster?.['certificate-authority-data'] ?? '', 'base64').toString('utf8');
  const server = cluster?.server ?? '';
  if (ca === '' || server === '') throw new DiscoveryError('cluster-info names no server and authority');
  const found = authorityHashes(ca);
  if (hashes.length > 0 && !found.some((hash) => hashes.includes(hash)))
    throw new DiscoveryError(
      `cluster CA found in cluster-info ConfigMap is invalid: none of the public keys "${found.join(':')}" are pinned`,
    );
  return { server, ca };
}

const untimely: ReadonlySet<string> = new Set(['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED']);

/** Tries again while nobody answers or the token has not signed yet. Rejects with a sentence. */
export async function discover({ endpoint, token, hashes }: Discovery, clock: Clock, signal?: AbortSignal): Promise<Discovered> {
  const deadlineMs = clock.monotonic() + discoveryTimeoutMs;
  const { id } = parseToken(token);
  for (;;) {
    try {
      const content = signedContent(await readClusterInfo({ server: `https://${endpoint}`, insecure: true }, clock), token);
      if (content !== undefined) {
        const found = trusted(content, hashes);
        const again = signedContent(await readClusterInfo({ server: `https://${endpoint}`, ca: found.ca }, clock), token);
        if (again !== content) throw new DiscoveryError('cluster-info is another one when its authority is asked');
        return found;
      }
      if (clock.monotonic() > deadlineMs)
        throw new DiscoveryError(
          `could not find a JWS signature in the cluster-info ConfigMap for token ID "${id}": it has expired, or never was`,
        );
    } catch (error) {
      if (error instanceof DiscoveryError || signal?.aborted || clock.monotonic() > deadlineMs) throw error;
      const { code } = error as NodeJS.ErrnoException;
      if (code !== undefined && untimely.has(code))
        throw new DiscoveryError(certificateClockProblem(code, endpoint, clock.now()));
      if (code === undefined && !/publish|answered/.test((error as Error).message)) throw error;
      if (/publish/.test((error as Error).message)) throw error;
    }
    await clock.sleep(discoveryPollMs, signal);
  }
}
