export { type QueueEntry, type QueueOptions, SchedulingQueue } from './scheduling-queue.ts';
export { Nominator } from './nominator.ts';
