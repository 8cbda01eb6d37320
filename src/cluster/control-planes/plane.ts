// The control plane on machines of its own, as the process of `sagong up` sees it: through the load balancer, like anybody.
import { createClient, createRestTransport } from '#client';
import { Supervisor, userAgent } from '#component-base';
import { Decisions } from '#controller-runtime';
import type { Clock, Logger } from '#utils';
import { type ClusterPki, clientConfigFor } from '../certificates.ts';
import type { PlaneAccess } from '../control-plane.ts';
import { identities } from '../identities.ts';
import { readyPollMs, readyTimeoutMs } from './limits.ts';

export interface RemotePlaneOptions {
  pki: ClusterPki;
  /** `https://198.18.0.5:6443`. */
  server: string;
  podCidr: string;
  supervisor: Supervisor;
}

export function remotePlane({ pki, server, podCidr, supervisor }: RemotePlaneOptions, { clock }: { clock: Clock }): PlaneAccess {
  return {
    decisions: new Decisions(),
    supervisor,
    podCidr,
    server,
    explainScheduling: () => undefined,
    client: (identity, agent) => {
      const config = clientConfigFor(pki, identity, server);
      return createClient(createRestTransport({ config, clock, userAgent: userAgent(agent) }));
    },
    clientConfig: (identity, at = server) => clientConfigFor(pki, identity, at),
  };
}

/** Resolves when an apiserver behind the load balancer is ready; rejects with what it said last. */
export async function untilReady(
  plane: PlaneAccess,
  { clock, logger, signal }: { clock: Clock; logger: Logger; signal?: AbortSignal | undefined },
): Promise<void> {
  const deadlineMs = clock.monotonic() + readyTimeoutMs;
  const client = plane.client(identities.admin, 'sagong');
  try {
    for (;;) {
      signal?.throwIfAborted();
      const failure = await client
        .resource({ group: '', version: 'v1', resource: 'namespaces' })
        .get('kube-system')
        .then(
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
  } finally {
    client.close();
  }
}
