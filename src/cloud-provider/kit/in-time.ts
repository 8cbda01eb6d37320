// A bound in time for what may never come to an end by itself.
import { setMaxListeners } from 'node:events';
import type { Clock } from '#utils';

const timedOut = (timeoutMs: number): Error =>
  Object.assign(new Error(`no answer within ${timeoutMs / 1000} s`), { name: 'TimeoutError' });

/** Gives up waiting when time is over or the caller has gone, whether or not the work heeds the signal that it is given. */
export async function inTime<T>(
  work: (signal: AbortSignal) => Promise<T>,
  clock: Clock,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  const end = new AbortController();
  const timer = clock.setTimer(timeoutMs, () => end.abort(timedOut(timeoutMs)));
  const onAbort = (): void => end.abort(signal?.reason);
  // Many calls wait under the one signal of their controller; no listener outlives its call.
  if (signal) setMaxListeners(0, signal);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await new Promise<T>((resolve, reject) => {
      end.signal.addEventListener('abort', () => reject(end.signal.reason as Error), { once: true });
      work(end.signal).then(resolve, reject);
    });
  } finally {
    timer.cancel();
    signal?.removeEventListener('abort', onAbort);
  }
}
