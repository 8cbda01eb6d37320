// Failures on request: what a provider must live with in any real cloud. Pure.
import * as z from 'zod';

export const faults = z.object({
  /** Share of requests answered 500, 0 to 1. */
  errorRate: z.number().min(0).max(1).default(0),
  /** Share of requests answered 429 with `Retry-After`. */
  throttleRate: z.number().min(0).max(1).default(0),
  retryAfterSeconds: z.int().min(0).default(1),
  /** Added to every answer. */
  latencyMs: z.int().min(0).default(0),
  /** Share of changes of several steps that fail after some of them. */
  partialFailureRate: z.number().min(0).max(1).default(0),
  /** How long lists and gets do not show what was made. */
  eventualConsistencyMs: z.int().min(0).default(0),
  /** Errors, refusals and partial failures in all, after which there are no more; absent: no end. */
  failuresMax: z.int().min(0).optional(),
  /** No request is answered: connections are closed. */
  outage: z.boolean().default(false),
  /** The seed of the random choices. The same seed gives the same failures for the same requests in the same order. */
  seed: z.int().default(1),
  /** Operations that fail (their operationId); empty: all. */
  operations: z.array(z.string()).default([]),
});
export type Faults = z.infer<typeof faults>;
export const noFaults: Faults = faults.parse({}, { jitless: true });
