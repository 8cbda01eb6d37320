// Process signals: the first asks for an orderly stop, the second ends the process at once (apiserver/pkg/server SetupSignalHandler).
import { constants } from 'node:os';

export type SignalName = 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGUSR1' | 'SIGUSR2';

/** What a shell reports for a process ended by `signal`: 128 + its number; 1 when unknown. */
export const signalExitCode = (signal: NodeJS.Signals | null): number =>
  signal !== null && signal in constants.signals ? 128 + constants.signals[signal] : 1;

/**
 * Calls the handler of each named signal. Returns a function that takes all of them away again (Node's default action is then back).
 */
export function onSignals(handlers: Partial<Record<SignalName, (signal: SignalName) => void>>): () => void {
  const entries = Object.entries(handlers) as [SignalName, (signal: SignalName) => void][];
  const listeners = entries.map(([signal, handler]) => [signal, () => handler(signal)] as const);
  for (const [signal, listener] of listeners) process.on(signal, listener);
  return () => {
    for (const [signal, listener] of listeners) process.removeListener(signal, listener);
  };
}

/**
 * An AbortSignal that fires on the first SIGTERM or SIGINT; the second one ends the process with exit code 1.
 * `dispose` gives the signals back.
 */
export function shutdownSignal(): { signal: AbortSignal; dispose(): void } {
  const controller = new AbortController();
  const onSignal = (name: SignalName): void => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort(new Error(`received ${name}`));
  };
  const dispose = onSignals({ SIGTERM: onSignal, SIGINT: onSignal });
  return { signal: controller.signal, dispose };
}
