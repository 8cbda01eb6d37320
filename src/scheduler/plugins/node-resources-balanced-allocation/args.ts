// The arguments of NodeResourcesBalancedAllocation (https://kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1/). Pure.
import * as z from 'zod';
import { type ArgsOf, argsSchema } from '../../framework/args.ts';

export const nodeResourcesBalancedAllocationArgs = argsSchema('NodeResourcesBalancedAllocationArgs', () => ({
  /** Default: CPU and memory. */
  resources: z.array(z.strictObject({ name: z.string(), weight: z.int().min(1).max(100).optional() })).optional(),
}));

export type NodeResourcesBalancedAllocationArgs = ArgsOf<typeof nodeResourcesBalancedAllocationArgs>;
