// How a machine comes to trust a cluster that it knows by an address, a token and a hash (KEP-130; kubeadm's token-based discovery): the public
// ConfigMap `cluster-info` is read from whoever answers, and once more from a server that its authority vouches for.
import { userAgent } from '#component-base';
import type { Clock } from '#utils';
import { BodyTooLargeError, type ClientResponse, type ClientTls, createWireClient } from '#wire';
import { parseToken } from '../joining/token-text.ts';
import { certificateClockProblem } from './clocks.ts';
import { type Discovered, DiscoveryError, infoEntries, signedContent, trusted } from './cluster-info.ts';
import { clusterInfoBytesMax, discoveryAnswerMs, discoveryPollMs, discoveryTimeoutMs } from './limits.ts';

export interface Discovery {
  /** `10.0.0.1:6443`. */
  endpoint: string;
  token: string;
  /** `sha256:<hex>` of the authorities that are trusted. Without any, a server that knows the token is trusted. */
  hashes: readonly string[];
}

interface Deps {
  clock: Clock;
  signal?: AbortSignal | undefined;
  /** Called with a sentence that says which server is waited for, and why. */
  tell?: ((sentence: string) => void) | undefined;
}

const path = '/api/v1/namespaces/kube-public/configmaps/cluster-info?timeout=10s';
/** The codes of TLS for a server whose certificate the named authority did not issue, or did not issue for this address. */
const notVouchedFor = /^(ERR_TLS_CERT_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/;
const untimely: ReadonlySet<string> = new Set(['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED']);

/** An answer's body, no longer than cluster-info may be. */
async function bodyOf({ status, text }: ClientResponse): Promise<string> {
  if (status === 401 || status === 403 || status === 404)
    throw new DiscoveryError('it does not publish how to join it; start it with: sagong up --advertise-address');
  if (status === 429 || status >= 500) throw new Error(`it answered ${status}`);
  if (status !== 200) throw new DiscoveryError(`it answered ${status}`);
  try {
    return await text(clusterInfoBytesMax);
  } catch (error) {
    if (!(error instanceof BodyTooLargeError)) throw error;
    throw new DiscoveryError(`what it answered is longer than ${clusterInfoBytesMax / 1024} KiB`, { cause: error });
  }
}

/** Reads the entries of cluster-info from any server that satisfies `tls`. The token is not sent. */
async function readInfo(endpoint: string, tls: ClientTls, signal: AbortSignal | undefined): Promise<Record<string, string>> {
  const client = createWireClient({ baseUrl: `https://${endpoint}`, tls });
  const late = AbortSignal.timeout(discoveryAnswerMs);
  try {
    const headers = { accept: 'application/json', 'user-agent': userAgent('sagong') };
    const within = signal ? AbortSignal.any([signal, late]) : late;
    return infoEntries(await bodyOf(await client.request({ path, headers, signal: within })));
  } finally {
    client.close();
  }
}

/** Asks the endpoint once for the cluster's information; undefined while that has no signature of the token. */
async function tryOnce({ endpoint, token, hashes }: Discovery, { signal }: Deps): Promise<Discovered | undefined> {
  const content = signedContent(await readInfo(endpoint, { insecureSkipVerify: true }, signal), token);
  if (content === undefined) return undefined;
  const found = trusted(content, hashes);
  const again = signedContent(await readInfo(endpoint, { ca: found.ca }, signal), token);
  if (again !== content)
    throw new DiscoveryError('asked again with the authority of cluster-info, it answered another cluster-info');
  return found;
}

const isLate = (error: unknown): boolean => (error as Error).name === 'TimeoutError';

/** Why it has to be tried again. Throws what does not get better by itself. */
function hindrance(error: unknown, endpoint: string, nowMs: number): string {
  if (error instanceof DiscoveryError) throw new DiscoveryError(`${endpoint}: ${error.message}`, { cause: error });
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined && untimely.has(code)) throw new DiscoveryError(certificateClockProblem(code, endpoint, nowMs));
  if (code === 'EPROTO') return 'who answers there does not speak TLS';
  if (isLate(error)) return `it has not answered within ${discoveryAnswerMs / 1000} s`;
  const [line = ''] = message.split('\n');
  if (code !== undefined && notVouchedFor.test(code))
    throw new DiscoveryError(`the certificate of ${endpoint} is not valid for it by the authority in cluster-info: ${line}`);
  return line;
}

/** Tries again while nobody answers or the token has not signed yet. Rejects with a sentence. */
export async function discover(discovery: Discovery, deps: Deps): Promise<Discovered> {
  const { endpoint, token } = discovery;
  const { clock, signal, tell } = deps;
  const { id } = parseToken(token);
  const unsigned = `could not find a JWS signature in the cluster-info ConfigMap for token ID "${id}": it has expired, or never was; for another one: sagong token create`;
  const deadlineMs = clock.monotonic() + discoveryTimeoutMs;
  const told = new Set<string>();
  for (;;) {
    let why: string;
    try {
      const found = await tryOnce(discovery, deps);
      if (found) return found;
      why = unsigned;
    } catch (error) {
      signal?.throwIfAborted();
      why = hindrance(error, endpoint, clock.now());
    }
    if (clock.monotonic() > deadlineMs) throw new DiscoveryError(`${endpoint}: ${why}`);
    if (!told.has(why)) tell?.(`Waiting for the cluster at ${endpoint}, ${discoveryTimeoutMs / 60_000} min at most: ${why}`);
    told.add(why);
    await clock.sleep(discoveryPollMs, signal);
  }
}
