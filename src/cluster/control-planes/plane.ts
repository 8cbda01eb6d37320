// The control plane on machines of its own, as the process of `sagong up` sees it: through the load balancer, like anybody.
import { StatusError } from '#apimachinery/errors';
import type { Transport } from '#apimachinery/transport';
import { type ClientConfig, createClient, createRestTransport } from '#client';
import { Supervisor, userAgent } from '#component-base';
import { Decisions } from '#controller-runtime';
import type { Clock, Logger } from '#utils';
import type { Dial } from '#wire';
import { type ClusterPki, clientConfigFor } from '../certificates/certificates.ts';
import { type Identity, identities } from '../certificates/identities.ts';
import type { Refusal } from '#apiserver';
import type { PlaneAccess, Told } from '../control-plane.ts';
import { patienceMs, readyPollMs, readyTimeoutMs } from './limits.ts';

/** Asks again, where that does no harm, while a connection was cut: the load balancer does so when an apiserver fails. */
function patient(inner: Transport, clock: Clock): Transport {
  async function again<T>(harmless: boolean, ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const deadlineMs = clock.monotonic() + patienceMs;
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (error instanceof StatusError || !harmless || signal?.aborted || clock.monotonic() > deadlineMs) throw error;
      }
      await clock.sleep(readyPollMs, signal);
    }
  }
  return {
    call: (call, signal) => again(['get', 'list', 'patch'].includes(call.verb), () => inner.call(call, signal), signal),
    watch: (call, signal) => inner.watch(call, signal),
    raw: (method, path, body, signal) => again(method === 'GET', () => inner.raw(method, path, body, signal), signal),
    close: () => inner.close(),
  };
}

/** Where a control plane is reached. */
export interface PlaneAddress {
  /** `https://198.18.0.5:6443`. */
  url: string;
  /** The name in the apiserver's certificate; default: what the URL names. */
  serverName?: string;
  /** Opens connections from elsewhere. */
  dial?: Dial;
}

interface Gathered extends Told {
  /** Absent: the apiserver is of an older build, which says of none. */
  refusals?: Refusal[];
}

/** What an apiserver says, which knows where the others, the managers and the schedulers are. One of an older build knows nobody. */
async function asked(transport: Transport, query: Record<string, string>): Promise<Gathered> {
  const { status, text } = await transport.raw('GET', `/debug/decisions?${new URLSearchParams(query).toString()}`);
  if (status !== 200) return { decisions: [], silent: [`the apiserver answers /debug/decisions with status ${status}`] };
  return JSON.parse(text) as Gathered;
}

/** The newest first. What several apiservers have refused is one. */
export function together(all: readonly Refusal[]): Refusal[] {
  const byRequest = new Map<string, Refusal>();
  for (const refusal of [...all].sort((a, b) => b.atMs - a.atMs)) {
    const { user, verb, target, path, code } = refusal;
    const id = JSON.stringify([user, verb, target ?? path, code]);
    const newest = byRequest.get(id);
    byRequest.set(id, newest ? { ...newest, times: newest.times + refusal.times } : refusal);
  }
  return [...byRequest.values()];
}

export interface RemotePlaneOptions {
  pki: ClusterPki;
  at: PlaneAddress;
  podCidr: string;
  supervisor: Supervisor;
}

export function remotePlane(
  { pki, at: { url: server, serverName, dial }, podCidr, supervisor }: RemotePlaneOptions,
  { clock }: { clock: Clock },
): PlaneAccess {
  const decisions = new Decisions();
  const config = (identity: Identity): ClientConfig => ({
    ...clientConfigFor(pki, identity, server),
    ...(serverName !== undefined && { serverName }),
  });
  const transportOf = (identity: Identity, agent: string) =>
    createRestTransport({ config: config(identity), clock, userAgent: userAgent(agent), ...(dial && { dial }) });
  const ask = async (query: Record<string, string>): Promise<Gathered> => {
    const transport = transportOf(identities.admin, 'sagong');
    return asked(transport, query).finally(() => transport.close());
  };
  return {
    decisions,
    supervisor,
    podCidr,
    server,
    async about(object, uid) {
      const { decisions: theirs, scheduling, silent } = await ask({ ...object, uid });
      return { scheduling, silent, decisions: [...decisions.about(object), ...theirs] };
    },
    async refusals() {
      const { refusals = [], silent } = await ask({ refused: 'true' });
      return { refusals: together(refusals), silent };
    },
    client: (identity, agent) => createClient(patient(transportOf(identity, agent), clock)),
    clientConfig: (identity, at = server) => clientConfigFor(pki, identity, at),
  };
}

/** Does `work` as soon as the control plane lets it: the first apiserver is not ready at once, nor for good. Rejects with what was said last. */
export async function oncePlaneAnswers(
  work: () => Promise<void>,
  { clock, logger, signal }: { clock: Clock; logger: Logger; signal?: AbortSignal | undefined },
): Promise<void> {
  const deadlineMs = clock.monotonic() + readyTimeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const failure = await work().then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    );
    if (failure === undefined) return;
    logger.debug('the control plane is not ready', { failure });
    if (clock.monotonic() > deadlineMs)
      throw new Error(
        `the control plane does not answer after ${readyTimeoutMs / 1000} s (${failure}); see the logs in control-planes below the cluster's data directory`,
      );
    await clock.sleep(readyPollMs, signal);
  }
}
