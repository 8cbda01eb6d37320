// Work on names, one run of each at a time: now, again after a while, and soon again when it failed.
import type { Clock, Timer } from '#utils';

export interface KeyedLoopOptions {
  clock: Clock;
  signal: AbortSignal;
  /** Pauses in milliseconds: after a success, and after failures (doubled up to the last). */
  pauses: { again: number; retry: number; retryMax: number };
  /** Rejects when it has to be tried again soon. */
  run(name: string): Promise<void>;
}

export interface KeyedLoop {
  /** Runs for the name as soon as it can. Resolves when a run that began later than now is over, however it went. */
  add(name: string): Promise<void>;
  forget(name: string): void;
}

interface Entry {
  running: Promise<void> | undefined;
  next: Promise<void> | undefined;
  timer: Timer | undefined;
  failures: number;
  gone: boolean;
}

export function keyedLoop({ clock, signal, pauses, run }: KeyedLoopOptions): KeyedLoop {
  const entries = new Map<string, Entry>();
  const once = async (name: string, entry: Entry): Promise<void> => {
    entry.timer?.cancel();
    let pauseMs = pauses.again;
    try {
      await run(name);
      entry.failures = 0;
    } catch {
      pauseMs = Math.min(pauses.retry * 2 ** Math.min(entry.failures++, 30), pauses.retryMax);
    }
    if (!entry.gone && !signal.aborted) entry.timer = clock.setTimer(pauseMs, () => void loop.add(name));
  };
  const start = (name: string, entry: Entry): Promise<void> => {
    entry.running = once(name, entry).then(() => {
      entry.running = undefined;
    });
    return entry.running;
  };
  const loop: KeyedLoop = {
    add(name) {
      if (signal.aborted) return Promise.resolve();
      const entry = entries.get(name) ?? { running: undefined, next: undefined, timer: undefined, failures: 0, gone: false };
      entries.set(name, entry);
      if (!entry.running) return start(name, entry);
      entry.next ??= entry.running.then(() => {
        entry.next = undefined;
        return entry.gone || signal.aborted ? undefined : start(name, entry);
      });
      return entry.next;
    },
    forget(name) {
      const entry = entries.get(name);
      if (!entry) return;
      entry.gone = true;
      entry.timer?.cancel();
      entries.delete(name);
    },
  };
  signal.addEventListener('abort', () => [...entries.keys()].forEach((name) => loop.forget(name)), { once: true });
  return loop;
}
