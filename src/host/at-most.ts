/**
 * Gives what runs work, no more than `max` at a time, in the order it came. `waitingMax`: how many may wait for their turn; work beyond is not begun, and
 * its promise is rejected.
 */
export function atMost(max: number, waitingMax = Number.POSITIVE_INFINITY): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    // A place that becomes free is handed on, so nobody overtakes.
    if (running < max) running += 1;
    else if (waiting.length >= waitingMax) throw new Error(`more than ${waitingMax} wait for their turn`);
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
