// Long work carried out with pauses in which others go on (docs/decisions/0014-fifty-milliseconds.md).
import type { Steps } from '#utils';

/** Runs the work and waits for `rest` between its steps. The answer is no promise where there was nothing to wait for. */
export function paced<T>(steps: Steps<T>, rest: () => Promise<void> | undefined): T | Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const pause = rest();
    if (pause !== undefined) return goOn(steps, rest, pause);
  }
}

async function goOn<T>(steps: Steps<T>, rest: () => Promise<void> | undefined, first: Promise<void>): Promise<T> {
  for (let pause: Promise<void> | undefined = first; ; pause = rest()) {
    if (pause !== undefined) await pause;
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
