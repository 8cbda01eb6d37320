// What control loops and schedulers of a control plane on several machines decided about an object, in one answer (`sagong explain`): the components beside
// this apiserver are asked on loopback, and every other apiserver of the cluster for those beside it, since one of them leads and nobody knows where. All of
// them hear who asks from the front proxy, and decide by themselves whether that one may know.
import type { Endpoints } from '#api/core/v1';
import { createWireClient, dialErrorText } from '#wire';
import { identityHeaders } from '../aggregation/identity.ts';
import { decisionBytesMax, decisionPeersMax, decisionTimeoutMs } from '../limits.ts';
import { hostPort } from '../outbound/service-resolver.ts';
import type { UserInfo } from '../request/request.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';

const decisionsPath = '/debug/decisions';
/** In the query: other apiservers are not asked. */
const hereOnly = 'here';
/** In the query: not what was decided is asked for, but which requests the apiservers have refused. */
const refusedOnly = 'refused';

export interface GatherOptions {
  /** The addresses of components beside this server. */
  sources: readonly string[];
  /** What proves that it may say who asks. */
  proxyClient: { cert: string; key: string };
  /** Vouches for the other apiservers. */
  ca?: string;
  cluster: Pick<ReadOnlyCluster, 'get'>;
  /** `host:port` of this server among the endpoints of the Service `kubernetes`. */
  own(): string;
  /** The requests that this server refused last. */
  refusals?(): unknown[];
}

export interface Gathered {
  decisions: unknown[];
  /** Of the scheduler that placed the pod, or tried to. */
  scheduling?: unknown;
  /** Requests that were refused, where those are asked for. */
  refusals?: unknown[];
  /** Who did not answer, and why. */
  silent: string[];
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value);
const textsOf = (value: unknown): string[] => (isList(value) ? value.filter((one) => typeof one === 'string') : []);

function peersOf(cluster: GatherOptions['cluster'], own: string): string[] {
  const endpoints = cluster.get<Endpoints>('', 'endpoints', 'default', 'kubernetes');
  return (endpoints?.subsets ?? [])
    .flatMap(({ addresses = [], ports = [] }) =>
      addresses.flatMap(({ ip }) => ports.map(({ port }) => hostPort(ip ?? '', port ?? 443))),
    )
    .filter((address) => address !== own)
    .slice(0, decisionPeersMax);
}

/** Rejects with a sentence. */
async function ask(
  url: string,
  tls: object,
  path: string,
  user: UserInfo,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { origin, host } = new URL(url);
  const client = createWireClient({ baseUrl: origin, tls });
  const timely = AbortSignal.any([signal, AbortSignal.timeout(decisionTimeoutMs)]);
  try {
    const answer = await client.request({
      path,
      headers: { accept: 'application/json', ...identityHeaders(user) },
      signal: timely,
    });
    const text = await answer.text(decisionBytesMax);
    if (answer.status !== 200) throw new Error(`status ${answer.status}: ${text.slice(0, 200)}`);
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) throw new Error('the answer is no object');
    return value as Record<string, unknown>;
  } catch (error) {
    throw new Error(timely.aborted ? 'no answer in time' : dialErrorText(error, host), { cause: error });
  } finally {
    client.close();
  }
}

/** Gives what answers a query (`group`, `resource`, `key`, `uid`) of a user. Never rejects: who does not answer is named. */
export type Gather = (query: string, user: UserInfo, signal: AbortSignal) => Promise<Gathered>;

export function createGather(options: GatherOptions): Gather {
  const { proxyClient, ca, cluster, own } = options;
  // They make their own certificates; who listens on this machine's loopback gets to see a name and a public certificate.
  const beside = { ...proxyClient, insecureSkipVerify: true };
  const others = { ...proxyClient, ...(ca !== undefined && { ca }) };
  return async (query, user, signal) => {
    const wanted = new URLSearchParams(query);
    const peers = wanted.has(hereOnly) ? [] : peersOf(cluster, own());
    const sources = wanted.has(refusedOnly) ? [] : options.sources;
    const path = `${decisionsPath}?${wanted.toString()}`;
    wanted.set(hereOnly, 'true');
    const farPath = `${decisionsPath}?${wanted.toString()}`;
    const asked: [string, Promise<Record<string, unknown>>][] = [
      ...sources.map((url): [string, Promise<Record<string, unknown>>] => [url, ask(url, beside, path, user, signal)]),
      ...peers.map((peer): [string, Promise<Record<string, unknown>>] => [
        `https://${peer}`,
        ask(`https://${peer}`, others, farPath, user, signal),
      ]),
    ];
    const refused = wanted.has(refusedOnly) ? (options.refusals?.() ?? []) : undefined;
    const gathered: Gathered = { decisions: [], silent: [], ...(refused && { refusals: refused }) };
    const answers = await Promise.allSettled(asked.map(([, answer]) => answer));
    for (const [at, answer] of answers.entries()) {
      const url = asked[at]?.[0] ?? '';
      const isPeer = at >= sources.length;
      if (answer.status === 'rejected') {
        gathered.silent.push(`${url}: ${(answer.reason as Error).message}`);
        continue;
      }
      const { decisions, scheduling, refusals, silent } = answer.value;
      if (isList(decisions)) gathered.decisions.push(...decisions);
      gathered.scheduling ??= scheduling;
      if (isList(refusals)) gathered.refusals?.push(...refusals);
      gathered.silent.push(...textsOf(silent).map((line) => (isPeer ? `${url}: ${line}` : line)));
    }
    return gathered;
  };
}
