// In which order the containers of a pod stop: sidecars after all regular containers, the last sidecar first (KEP-753; upstream
// kuberuntime_termination_order.go).
import type { Pod } from '#api/core/v1';
import { isRestartableInitContainer } from '#component-helpers/pod';
import type { Clock } from '#utils';

/** Tells, for each sidecar, which running containers stop before it. Pure. */
export function stopsAfter(pod: Pod, running: readonly string[]): Map<string, string[]> {
  const regular = (pod.spec?.containers ?? []).map(({ name }) => name);
  const sidecars = (pod.spec?.initContainers ?? []).filter(isRestartableInitContainer).map(({ name }) => name);
  return new Map(
    sidecars.map((name, index) => [
      name,
      [...regular, ...sidecars.slice(index + 1)].filter((earlier) => running.includes(earlier)),
    ]),
  );
}

export class TerminationOrder {
  readonly #before: Map<string, string[]>;
  readonly #clock: Clock;
  readonly #stopped = new Map<string, { promise: Promise<void>; resolve(): void }>();

  constructor(pod: Pod, running: readonly string[], clock: Clock) {
    this.#before = stopsAfter(pod, running);
    this.#clock = clock;
    for (const name of running) {
      let resolve = (): void => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#stopped.set(name, { promise, resolve });
    }
  }

  /** Resolves when the container's turn has come, or after `graceSeconds`. Answers the whole seconds that took. */
  async waitForTurn(name: string, graceSeconds: number): Promise<number> {
    const before = (this.#before.get(name) ?? []).map((earlier) => this.#stopped.get(earlier)?.promise ?? Promise.resolve());
    if (before.length === 0 || graceSeconds <= 0) return 0;
    const began = this.#clock.monotonic();
    const over = new AbortController();
    const limit = this.#clock.sleep(graceSeconds * 1000, over.signal).catch(() => {});
    await Promise.race([Promise.all(before), limit]);
    over.abort(new Error('turn has come'));
    return Math.floor((this.#clock.monotonic() - began) / 1000);
  }
  stopped(name: string): void {
    this.#stopped.get(name)?.resolve();
  }
}
