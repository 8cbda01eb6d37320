// The signal by which a user ends what stays in the foreground.
import { onSignals, signalExitCode, type SignalName } from '#host';

/** A second signal ends the process at once when it comes this long after the first; an earlier one is the same key press, heard twice. */
const impatientMs = 1_000;

/** What is not finished yet is ended by a signal: the process exits with `code`, as shells and systemd know it (128 and the signal's number). */
export class EndedBySignal extends Error {
  override name = 'EndedBySignal';
  readonly code: number;
  constructor(signal: SignalName) {
    super(`received ${signal}`);
    this.code = signalExitCode(signal);
  }
}

/**
 * The first signal stops what runs; the same key press often arrives twice (from the terminal and from npm), so only one that comes
 * later ends the process at once.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  let firstMs = 0;
  const onSignal = (name: SignalName): void => {
    if (!controller.signal.aborted) {
      firstMs = performance.now();
      controller.abort(new EndedBySignal(name));
    } else if (performance.now() - firstMs > impatientMs) process.exit(1);
  };
  onSignals({ SIGTERM: onSignal, SIGINT: onSignal, SIGHUP: onSignal });
  return controller.signal;
}

/** What `work` gives. Where it fails because of the signal, whatever it says then, the reason is the signal. */
export async function unlessEnded<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (signal.reason instanceof EndedBySignal) throw signal.reason;
    throw error;
  }
}
