// The arguments of NodeResourcesFit (https://kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1/). Pure.
import * as z from 'zod';
import { type ArgsOf, argsSchema } from '../../framework/args.ts';

export const nodeResourcesFitArgs = argsSchema('NodeResourcesFitArgs', () => ({
  ignoredResources: z.array(z.string()).optional(),
  ignoredResourceGroups: z.array(z.string()).optional(),
  scoringStrategy: z
    .strictObject({
      type: z.enum(['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio']).optional(),
      resources: z.array(z.strictObject({ name: z.string(), weight: z.int().min(0).max(100).optional() })).optional(),
      requestedToCapacityRatio: z
        .strictObject({
          shape: z
            .array(z.strictObject({ utilization: z.int().min(0).max(100), score: z.int().min(0).max(10).default(0) }))
            .optional(),
        })
        .optional(),
    })
    .optional(),
}));

export type NodeResourcesFitArgs = ArgsOf<typeof nodeResourcesFitArgs>;
