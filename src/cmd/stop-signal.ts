// The signal by which a user ends what stays in the foreground.
import { onSignals } from '#host';

/** A second signal ends the process at once when it comes this long after the first; an earlier one is the same key press, heard twice. */
const impatientMs = 1_000;

/**
 * The first signal stops what runs; the same key press often arrives twice (from the terminal and from npm), so only one that comes
 * later ends the process at once.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  let firstMs = 0;
  const onSignal = (name: string): void => {
    if (!controller.signal.aborted) {
      firstMs = performance.now();
      controller.abort(new Error(`received ${name}`));
    } else if (performance.now() - firstMs > impatientMs) process.exit(1);
  };
  onSignals({ SIGTERM: onSignal, SIGINT: onSignal, SIGHUP: onSignal });
  return controller.signal;
}
