// Work that several callers wait for together: it ends when the last of them has gone, and each of them may go alone.

import { setMaxListeners } from 'node:events';

export interface SharedSignal {
  /** Aborts once every caller that joined has. */
  signal: AbortSignal;
  /** A caller without a signal never goes. */
  join(caller: AbortSignal | undefined): void;
  /** The work is done: no listener stays. */
  release(): void;
}

export function sharedSignal(): SharedSignal {
  const end = new AbortController();
  const callers: (AbortSignal | undefined)[] = [];
  const look = (): void => {
    if (callers.every((caller) => caller?.aborted)) end.abort(callers[0]?.reason);
  };
  return {
    signal: end.signal,
    join(caller) {
      callers.push(caller);
      if (caller) setMaxListeners(0, caller);
      caller?.addEventListener('abort', look, { once: true });
      if (caller?.aborted) look();
    },
    release() {
      for (const caller of callers) caller?.removeEventListener('abort', look);
    },
  };
}

/** The answer, or the end of this caller's patience: whichever comes first. */
export async function abortable<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return answer;
  signal.throwIfAborted();
  let onAbort = (): void => {};
  setMaxListeners(0, signal);
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
