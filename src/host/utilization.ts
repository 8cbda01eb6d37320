// How busy the event loop is.
import { performance } from 'node:perf_hooks';

/** Gives, each time it is asked, the part of the time since it was last asked (0 to 1) in which the event loop had work to do. */
export function createUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
