// Long work in steps: a generator that yields where it may pause. The one thread that answers everybody lets others go on there
// (docs/decisions/0014-fifty-milliseconds.md); who has nobody to wait for him runs it through at once.

/** Work that yields where it may pause, and returns what it made. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Runs the work through without a pause. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
