// Long work of a write, carried out with pauses in which others go on (docs/decisions/0014-fifty-milliseconds.md).
import type { Steps } from '#utils';

/** Runs the work and waits for `rest` between its steps. */
export async function paced<T>(steps: Steps<T>, rest: () => Promise<void> | undefined): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const pause = rest();
    if (pause !== undefined) await pause;
  }
}
