// Which health checks the apiserver has, by upstream's names (k8s.io/apiserver/pkg/server/healthz.go).
import { type HealthCheck, type HealthEndpoint, logCheck, pingCheck } from '#component-base';
import type { Clock } from '#utils';
import type { StoreFeed } from '../storage/store-feed.ts';

export interface HealthChecks {
  lists(): Record<HealthEndpoint, readonly HealthCheck[]>;
  /** Adds `poststarthook/<name>`, and `autoregister-completion` with the hook that registers APIServices: healthy once `done` was called. */
  addStartHook(name: string): { done(): void; failed(error: unknown): void };
  /** From now on not ready: the server is going. */
  shutDown(): void;
}

export interface HealthOptions {
  clock: Clock;
  /** `--livez-grace-period`: so long from the start `/livez` takes unfinished start hooks for healthy. */
  livezGraceMs: number;
  /** Checks of components beside the apiserver, which `/readyz` shows. */
  components?(): readonly HealthCheck[];
  /** Others, of what a restart of this server does not mend. */
  checks?: readonly HealthCheck[];
}

export function createHealthChecks(
  feed: StoreFeed,
  { clock, livezGraceMs, components, checks = [] }: HealthOptions,
): HealthChecks {
  const graceEndsMs = clock.monotonic() + livezGraceMs;
  const graceful = ({ name, check }: HealthCheck): HealthCheck => ({
    name,
    check: () => (clock.monotonic() < graceEndsMs ? undefined : check()),
  });
  const hooks: HealthCheck[] = [];
  let going = false;
  const store: HealthCheck = { name: 'etcd', check: () => feed.check() };
  // Alive is who answers; ready is who also writes. A restart gives no full disk room.
  const readiness: HealthCheck = { name: 'etcd-readiness', check: () => feed.checkWritable() };
  const informers: HealthCheck = {
    name: 'informer-sync',
    check() {
      if (!feed.synced) throw new Error('the caches are being filled');
    },
  };
  const shutdown: HealthCheck = {
    name: 'shutdown',
    check() {
      if (going) throw new Error('process is shutting down');
    },
  };
  return {
    lists: () => ({
      healthz: [pingCheck, logCheck, store, ...checks, ...hooks],
      livez: [pingCheck, logCheck, store, ...(livezGraceMs > 0 ? hooks.map(graceful) : hooks)],
      readyz: [pingCheck, logCheck, store, readiness, informers, ...checks, ...hooks, shutdown, ...(components?.() ?? [])],
    }),
    addStartHook(name) {
      let state: Error | 'done' = new Error('not finished');
      const check = (): void => {
        if (state !== 'done') throw state;
      };
      hooks.push({ name: `poststarthook/${name}`, check });
      if (name === 'kube-apiserver-autoregistration') hooks.push({ name: 'autoregister-completion', check });
      return {
        done() {
          state = 'done';
        },
        failed(error) {
          state = error instanceof Error ? error : new Error(String(error));
        },
      };
    },
    shutDown() {
      going = true;
    },
  };
}
