// Changes of one thing that many share: the one load balancer of a cluster, a route table, a security list. Each change is a function of what is
// there now. Those that come while a write is under way are one write after it; a write that meets somebody else's begins again with what they left.
import { isConflict as isConflictDefault } from './failure.ts';
import { sharedWriteAttemptsMax } from './limits.ts';
import { sharedSignal } from './shared-signal.ts';

export interface SharedWritesOptions<Thing> {
  /** What is there now. Called before each write. */
  read(key: string, signal: AbortSignal): Promise<Thing>;
  /** Writes it whole, with the version that was read (an ETag, a fingerprint). Gives what is there then. */
  write(key: string, thing: Thing, signal: AbortSignal): Promise<Thing>;
  /** Whether a write failed because somebody else wrote in between. Default: a failed call of kind `conflict`. */
  isConflict?(error: unknown): boolean;
  attemptsMax?: number;
}

/** Gives the thing as it should be, or undefined when nothing is to be done. Must not change what it is given. */
export type Change<Thing> = (thing: Thing) => Thing | undefined;

interface Pending<Thing> {
  change: Change<Thing>;
  signal: AbortSignal | undefined;
  resolve(thing: Thing): void;
  reject(error: unknown): void;
}

/** A function that makes a change of the thing with this key, together with others of the same time. */
export function createSharedWrites<Thing>(options: SharedWritesOptions<Thing>) {
  const { read, write, isConflict = isConflictDefault, attemptsMax = sharedWriteAttemptsMax } = options;
  const queues = new Map<string, Pending<Thing>[]>();

  /** All changes that can be made, one upon the other. One that throws fails alone. */
  function changed(there: Thing, batch: readonly Pending<Thing>[], failed: Map<Pending<Thing>, unknown>): Thing | undefined {
    let thing: Thing | undefined;
    for (const one of batch)
      try {
        thing = one.change(thing ?? there) ?? thing;
      } catch (error) {
        failed.set(one, error);
      }
    return thing;
  }
  async function attempt(key: string, batch: readonly Pending<Thing>[], signal: AbortSignal): Promise<void> {
    for (let tries = 1; ; tries++) {
      const failed = new Map<Pending<Thing>, unknown>();
      const there = await read(key, signal);
      const wanted = changed(there, batch, failed);
      try {
        const written = wanted === undefined ? there : await write(key, wanted, signal);
        for (const one of batch)
          if (failed.has(one)) one.reject(failed.get(one));
          else one.resolve(written);
        return;
      } catch (error) {
        if (!isConflict(error) || tries >= attemptsMax || signal.aborted) throw error;
      }
    }
  }
  /** One write for the whole batch; when the cloud refuses it, one for each, so that only the refused one fails. */
  async function commit(key: string, batch: readonly Pending<Thing>[]): Promise<void> {
    const live = batch.filter((one) => !one.signal?.aborted);
    for (const one of batch) if (one.signal?.aborted) one.reject(one.signal.reason);
    if (live.length === 0) return;
    const { signal, join, release } = sharedSignal();
    for (const one of live) join(one.signal);
    try {
      await attempt(key, live, signal);
    } catch (error) {
      if (live.length === 1 || signal.aborted) return live.forEach(({ reject }) => reject(error));
      for (const one of live) await commit(key, [one]);
    } finally {
      release();
    }
  }
  async function drain(key: string, queue: Pending<Thing>[]): Promise<void> {
    // Changes that come in the same turn go together.
    await Promise.resolve();
    while (queue.length > 0) await commit(key, queue.splice(0));
    queues.delete(key);
  }
  return (key: string, change: Change<Thing>, signal?: AbortSignal): Promise<Thing> =>
    new Promise((resolve, reject) => {
      const queue = queues.get(key);
      const pending = { change, signal, resolve, reject };
      if (queue) {
        queue.push(pending);
        return;
      }
      const made = [pending];
      queues.set(key, made);
      void drain(key, made);
    });
}
