// What every component command shares: its logger, its clients, its own endpoints, and running until a signal ends it.
import { hostname } from 'node:os';
import {
  type ClientConfig,
  createClient,
  createRestTransport,
  type KubeClient,
  loadClientConfig,
  serviceAccountToken,
} from '#client';
import {
  type AdjustableLogger,
  createLogger,
  type FlagTexts,
  failureCounter,
  type HealthCheck,
  type HealthEndpoint,
  type Metrics,
  ownProcess,
  restClientMetrics,
  userAgent,
} from '#component-base';
import type { Decisions } from '#controller-runtime';
import {
  type ComponentServerOptions,
  type DelegatedAuthFlags,
  delegatedAuthOptions,
  type SecureServingFlags,
  secureServingOptions,
  serveComponent,
} from '#component-base/serving';
import { shutdownSignal, systemClock, systemRng } from '#host';
import type { Clock, Logger, Rng } from '#utils';
import type { WireServer } from '#wire';
import { die } from './process/fail.ts';

export interface ComponentDeps {
  clock: Clock;
  rng: Rng;
  logger: AdjustableLogger;
}

export interface LogFlags {
  verbosity: number;
  loggingFormat: 'text' | 'json';
  /** Levels by component. */
  vmodule?: Record<string, string>;
}

export function componentDeps(component: string, flags: LogFlags): ComponentDeps {
  const clock = systemClock();
  const vmodule = Object.fromEntries(Object.entries(flags.vmodule ?? {}).map(([name, level]) => [name, Number(level)]));
  const { verbosity: level, loggingFormat: format } = flags;
  return { clock, rng: systemRng(), logger: createLogger({ clock, component, level, format, vmodule }) };
}

/** Where the apiserver is and who asks: `--kubeconfig`, or the pod's service account; `--master` wins as the address. */
function clientConfigOf(kubeconfig: string, master: string): ClientConfig {
  if (master !== '' && kubeconfig === '') return { server: master };
  const config = loadClientConfig(kubeconfig || undefined, process.env);
  return master === '' ? config : { ...config, server: master };
}

/** A client over TLS from `--kubeconfig`, or as the pod's service account; its requests are counted in `metrics`. */
export function clientFor(
  component: string,
  kubeconfig: string,
  clock: Clock,
  { master = '', metrics }: { master?: string; metrics?: Metrics } = {},
): { client: KubeClient; config: ClientConfig } {
  const config = clientConfigOf(kubeconfig, master);
  const counted = metrics && restClientMetrics(metrics);
  const transport = createRestTransport({ config, clock, userAgent: userAgent(component), metrics: counted });
  return { config, client: createClient(transport) };
}

/** `--use-service-account-credentials`: a loop acts as its own service account, with tokens that the manager asks for. */
export const actingAs =
  (manager: KubeClient, { server, ca, insecure, serverName }: ClientConfig, clock: Clock) =>
  (name: string): KubeClient =>
    createClient(
      createRestTransport({
        config: { server, ca, insecure, serverName },
        clock,
        userAgent: name,
        token: serviceAccountToken(manager, clock, 'kube-system', name),
      }),
    );

/**
 * Starts the one component of this process. What it catches of itself is counted; an error that nobody catches ends the process, as a panic does
 * upstream.
 */
export function startAlone<T>(component: string, metrics: Metrics, start: () => T): T {
  const failures = failureCounter(metrics);
  const stray = (error: unknown): never => die(error, 'uncaughtException');
  ownProcess({ name: component, stray, caught: () => failures.inc(1, component, 'caught') });
  return start();
}

export interface OwnEndpoints extends Pick<ComponentServerOptions, 'setVerbosity'> {
  health(): Partial<Record<HealthEndpoint, readonly HealthCheck[]>>;
  metrics: Metrics;
  configz: { name: string; configuration: object };
  /** Answers /debug/decisions. */
  decisions?(query: URLSearchParams): object;
  /** What /flagz shows. */
  flags: FlagTexts;
}

/** The endpoints of a manager of control loops, whose checks are the same for health, liveness and readiness. */
export function managerEndpoints(
  manager: { healthChecks(): readonly HealthCheck[] },
  { profiling }: { profiling: boolean },
  { setLevel }: ReturnType<typeof componentDeps>['logger'],
  { decisions, ...own }: Pick<OwnEndpoints, 'metrics' | 'configz' | 'flags'> & { decisions: Decisions },
): OwnEndpoints {
  const health = (): ReturnType<OwnEndpoints['health']> => {
    const checks = manager.healthChecks();
    return { healthz: checks, livez: checks, readyz: checks };
  };
  const about = (query: URLSearchParams): object => {
    const [group, resource, key] = ['group', 'resource', 'key'].map((name) => query.get(name) ?? '') as [string, string, string];
    return { decisions: decisions.about({ group, resource, key }) };
  };
  return { ...own, health, decisions: about, setVerbosity: profiling ? setLevel : undefined };
}

/**
 * Serves health, metrics and configuration; undefined for `--secure-port=0`. Callers are judged by the apiserver: asked with
 * `--authentication-kubeconfig` and `--authorization-kubeconfig`, else as the component itself.
 */
export async function serveOwnEndpoints(
  component: string,
  flags: SecureServingFlags & DelegatedAuthFlags,
  endpoints: OwnEndpoints,
  { client, clock, logger }: { client: KubeClient; clock: Clock; logger: Logger },
): Promise<WireServer | undefined> {
  const serving = await secureServingOptions(flags, component, clock);
  if (!serving) return undefined;
  const asked = (kubeconfig: string): KubeClient => (kubeconfig === '' ? client : clientFor(component, kubeconfig, clock).client);
  const auth = delegatedAuthOptions(flags);
  // Upstream asks nobody without a kubeconfig for it, outside of a pod. Here the component asks as itself, and may lack the right to.
  const ownIdentity = flags.authenticationKubeconfig === '' && !process.env['KUBERNETES_SERVICE_HOST'];
  const lookup = ownIdentity && auth.lookup === 'strict' ? 'tolerant' : auth.lookup;
  return serveComponent(
    { component, serving, auth: { ...auth, lookup }, ...endpoints },
    {
      authentication: asked(flags.authenticationKubeconfig),
      authorization: asked(flags.authorizationKubeconfig),
      clock,
      logger,
    },
  );
}

/** An identity that no other process has, made as upstream's components make it to lead. */
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
