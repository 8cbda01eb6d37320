// The control plane on machines of its own, as the process of `sagong up` sees it: through the load balancer, like anybody.
import { StatusError } from '#apimachinery/errors';
import type { Transport } from '#apimachinery/transport';
import { type ClientConfig, createClient, createRestTransport } from '#client';
import { Supervisor, userAgent } from '#component-base';
import { Decisions, type ObjectId } from '#controller-runtime';
import type { Clock, Logger } from '#utils';
import type { Dial } from '#wire';
import { type ClusterPki, clientConfigFor } from '../certificates/certificates.ts';
import { type Identity, identities } from '../certificates/identities.ts';
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

/** What managers and schedulers say through an apiserver, which knows where they are. An apiserver of an older build knows nobody. */
async function askedAbout(transport: Transport, { group, resource, key }: ObjectId, uid: string): Promise<Told> {
  const query = new URLSearchParams({ group, resource, key, uid });
  const { status, text } = await transport.raw('GET', `/debug/decisions?${query.toString()}`);
  if (status !== 200) return { decisions: [], silent: [`the apiserver answers /debug/decisions with status ${status}`] };
  const { decisions, scheduling, silent } = JSON.parse(text) as Told;
  return { decisions, scheduling, silent };
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
  return {
    decisions,
    supervisor,
    podCidr,
    server,
    async about(object, uid) {
      const transport = createRestTransport({
        config: config(identities.admin),
        clock,
        userAgent: userAgent('sagong'),
        ...(dial && { dial }),
      });
      try {
        const told = await askedAbout(transport, object, uid);
        return { ...told, decisions: [...decisions.about(object), ...told.decisions] };
      } finally {
        transport.close();
      }
    },
    refusals: () => [],
    client: (identity, agent) => {
      const transport = createRestTransport({
        config: config(identity),
        clock,
        userAgent: userAgent(agent),
        ...(dial && { dial }),
      });
      return createClient(patient(transport, clock));
    },
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
