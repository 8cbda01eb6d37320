// What a server does once it serves and before it is ready, and before it goes (k8s.io/apiserver/pkg/server/hooks.go).
import { type Clock, type Logger } from '#utils';
import type { StoreFeed } from './storage/store-feed.ts';
import type { StartHook } from './registry/start-hook.ts';
import type { ClusterWriter } from './registry/writer.ts';
import type { ReadOnlyCluster } from './storage/read-only-cluster.ts';
import type { HealthChecks } from './endpoints/health.ts';
import { leaveTimeoutMs, startHookRetryMs } from './limits.ts';

export interface StartHookDeps {
  health: HealthChecks;
  cluster: ReadOnlyCluster;
  writer: ClusterWriter;
  feed: StoreFeed;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * Upstream fills its caches, serves definitions and readies admission in hooks of their own. Here one feed of the store fills every cache, and
 * definitions and admission read those: each hook is done once the caches are, which is what `runStartHooks` waits for after every one.
 */
export const cacheHooks: readonly StartHook[] = [
  'generic-apiserver-start-informers',
  'start-apiserver-admission-initializer',
  'start-apiextensions-informers',
  'start-apiextensions-controllers',
  'crd-informer-synced',
  'start-kube-aggregator-informers',
  'storage-readiness',
].map((name) => ({ name, after: '', run: () => Promise.resolve() }));

/**
 * Runs each hook when the one it needs has run: those that do not need each other share the store's commits. A store that does not answer for a
 * while is waited for. Rejects with an error that names the hook when one fails for good. A hook that is a loop never does: what keeps it from its
 * work (a disk that is full, a KMS plugin that is away) is no reason to end a server that answers everybody else.
 */
export async function runStartHooks(hooks: readonly StartHook[], deps: StartHookDeps): Promise<void> {
  const runs = hooks.map((hook) => ({ hook, mark: deps.health.addStartHook(hook.name) }));
  const ends = new Map<string, Promise<void>>();
  let last: Promise<void> = Promise.resolve();
  for (const { hook, mark } of runs) {
    const needed = hook.after === undefined ? last : hook.after === '' ? Promise.resolve() : ends.get(hook.after);
    if (!needed) throw new Error(`PostStartHook "${hook.name}" comes before "${hook.after}", which it needs`);
    const run = async (): Promise<void> => {
      await needed;
      try {
        await (hook.loop ? begun(hook, deps) : runPatiently(hook, deps, startHookRetryMs.giveUpAfter));
        mark.done();
      } catch (error) {
        mark.failed(error);
        throw new Error(`PostStartHook "${hook.name}" failed: ${(error as Error).message}`, { cause: error });
      }
    };
    last = run();
    ends.set(hook.name, last);
  }
  await Promise.all(ends.values());
}

/** Resolves when the loop has done its work, or has failed for a while and goes on trying beside everything else. */
async function begun(hook: StartHook, deps: StartHookDeps): Promise<void> {
  const { clock, signal } = deps;
  const late = new AbortController();
  const run = runPatiently(hook, deps, Number.POSITIVE_INFINITY).finally(() => late.abort());
  await Promise.race([run, clock.sleep(startHookRetryMs.loopsHoldFor, late.signal).catch(() => run)]);
  run.catch((error: unknown) => {
    if (!signal.aborted) deps.logger.error('start hook ended', { hook: hook.name, err: (error as Error).message });
  });
}

async function runPatiently(hook: StartHook, deps: StartHookDeps, patienceMs: number): Promise<void> {
  const { cluster, writer, feed, clock, logger, signal } = deps;
  const deadline = clock.monotonic() + patienceMs;
  for (let pauseMs = startHookRetryMs.first; ; pauseMs = Math.min(pauseMs * 2, startHookRetryMs.max)) {
    signal.throwIfAborted();
    const attempt = attemptOf(signal);
    try {
      await hook.run(cluster, writer, attempt.signal);
      // What was written counts once the caches show it: over a real etcd that is a little later, and RBAC reads the caches.
      await feed.current();
      return;
    } catch (error) {
      attempt.end();
      signal.throwIfAborted();
      if (clock.monotonic() + pauseMs > deadline) throw error;
      logger.warn('start hook failed and is tried again', { hook: hook.name, err: (error as Error).message });
      await clock.sleep(pauseMs, signal);
    }
  }
}

/** A signal of one try: what a try that failed has begun to follow, it follows no longer. */
function attemptOf(signal: AbortSignal): { signal: AbortSignal; end(): void } {
  const own = new AbortController();
  const end = (): void => {
    signal.removeEventListener('abort', end);
    own.abort(signal.reason);
  };
  signal.addEventListener('abort', end, { once: true });
  return { signal: own.signal, end };
}

/** Waits for the leaving, but not long: a store that is gone must not keep a server from closing. */
export async function leaveInTime(leaving: Promise<void>, { clock, logger }: { clock: Clock; logger: Logger }): Promise<void> {
  const patience = new AbortController();
  const late = clock.sleep(leaveTimeoutMs, patience.signal).then(
    () => logger.warn('this server may still be found by others', { err: 'the store does not answer' }),
    () => {},
  );
  const left = leaving.catch((error: unknown) =>
    logger.warn('this server may still be found by others', { err: (error as Error).message }),
  );
  await Promise.race([left, late]);
  patience.abort();
}

/** The end of something that may come once. */
export function ending(): { over: Promise<Error>; end(error: Error): void } {
  let end = (_error: Error): void => {};
  const over = new Promise<Error>((resolve) => {
    end = resolve;
  });
  return { over, end: (error) => end(error) };
}
