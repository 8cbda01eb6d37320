// What every component command shares: its logger, its client, and running until it is told to stop.
import { hostname } from 'node:os';
import { type ClientConfig, createClient, createRestTransport, type KubeClient, loadClientConfig } from '#client';
import { createLogger, userAgent } from '#component-base';
import { shutdownSignal, systemClock, systemRng } from '#host';
import type { Clock, Logger, Rng } from '#utils';

export interface ComponentDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
}

export interface LogFlags {
  verbosity: number;
  loggingFormat: 'text' | 'json';
}

export function componentDeps(component: string, { verbosity, loggingFormat }: LogFlags): ComponentDeps {
  const clock = systemClock();
  return { clock, rng: systemRng(), logger: createLogger({ clock, component, level: verbosity, format: loggingFormat }) };
}

/** A client over TLS from `--kubeconfig`, or as the pod's service account. */
export function clientFor(component: string, kubeconfig: string, clock: Clock): { client: KubeClient; config: ClientConfig } {
  const config = loadClientConfig(kubeconfig || undefined, process.env);
  return { config, client: createClient(createRestTransport({ config, clock, userAgent: userAgent(component) })) };
}

/** Unique per process, as upstream's leader election identities. */
export const processIdentity = (rng: Rng): string => `${hostname()}_${rng.uuid()}`;

/** Waits for SIGTERM or SIGINT, then stops the component. A component that ends by itself (leadership lost) ends the process with code 1. */
export async function untilStopped(stop: () => Promise<void> | void, ended?: Promise<void>): Promise<void> {
  const { signal, dispose } = shutdownSignal();
  await Promise.race([
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
    ...(ended ? [ended] : []),
  ]);
  if (!signal.aborted) process.exit(1);
  await stop();
  dispose();
  process.exit(0);
}
