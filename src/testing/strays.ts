// Errors that nobody caught, in a process that is not ours: those of a cluster's components restart the component; with all others happens what
// would have happened without us.
import { handStray } from '#component-base/failures';

type Event = 'uncaughtException' | 'unhandledRejection';

let clusters = 0;

/** Where nobody else listens Node would take a rejection for an exception, and end the process for an exception: to throw has it do so. */
const listener =
  (event: Event) =>
  (error: unknown): void => {
    if (!handStray(error) && process.listenerCount(event) === 1) throw error;
  };
const listeners: Record<Event, (error: unknown) => void> = {
  uncaughtException: listener('uncaughtException'),
  unhandledRejection: listener('unhandledRejection'),
};

/** Catches errors that nobody handles, from now on until what it gives is called. */
export function catchStrays(): () => void {
  const all = Object.entries(listeners) as [Event, (error: unknown) => void][];
  if (clusters++ === 0) for (const [event, listen] of all) process.on(event, listen);
  let over = false;
  return () => {
    if (over) return;
    over = true;
    if (--clusters === 0) for (const [event, listen] of all) process.off(event, listen);
  };
}
