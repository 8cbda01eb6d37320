// Order of the active queue: higher priority first, then who waits longer (upstream plugins/queuesort).
import type { Plugin } from '../../framework/index.ts';

export const prioritySort = (): Plugin => ({
  name: 'PrioritySort',
  compare: (a, b) => b.info.priority - a.info.priority || a.timestampMs - b.timestampMs,
});
