// Failures on request: what a provider must live with in any real cloud. Pure.
import * as z from 'zod';
import { once } from '#utils';

/** What is asked for where nothing is said. */
export const noFaults = {
  errorRate: 0,
  throttleRate: 0,
  retryAfterSeconds: 1,
  latencyMs: 0,
  partialFailureRate: 0,
  eventualConsistencyMs: 0,
  outage: false,
  seed: 1,
  operations: [] as string[],
};

const share = (usual: number) => z.number().min(0).max(1).default(usual);

export const faults = once(() =>
  z.object({
    /** Share of requests answered 500, 0 to 1. */
    errorRate: share(noFaults.errorRate),
    /** Share of requests answered 429 with `Retry-After`. */
    throttleRate: share(noFaults.throttleRate),
    retryAfterSeconds: z.int().min(0).default(noFaults.retryAfterSeconds),
    /** Added to every answer. */
    latencyMs: z.int().min(0).default(noFaults.latencyMs),
    /** Share of changes of several steps that fail after some of them. */
    partialFailureRate: share(noFaults.partialFailureRate),
    /** How long lists and gets do not show what was made. */
    eventualConsistencyMs: z.int().min(0).default(noFaults.eventualConsistencyMs),
    /** Errors, refusals and partial failures in all, after which there are no more; absent: no end. */
    failuresMax: z.int().min(0).optional(),
    /** No request is answered: connections are closed. */
    outage: z.boolean().default(noFaults.outage),
    /** The seed of the random choices. The same seed gives the same failures for the same requests in the same order. */
    seed: z.int().default(noFaults.seed),
    /** Operations that fail (their operationId); empty: all. */
    operations: z.array(z.string()).default(noFaults.operations),
  }),
);
export type Faults = z.infer<ReturnType<typeof faults>>;
