export { SchedulerCache } from './scheduler-cache.ts';
