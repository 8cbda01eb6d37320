// The arguments of DefaultPreemption (https://kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1/). Pure.
import * as z from 'zod';
import { type ArgsOf, argsSchema } from '../../framework/args.ts';

export const defaultPreemptionArgs = argsSchema('DefaultPreemptionArgs', () => ({
  /** Percent of the nodes to look for candidates on; default 10. */
  minCandidateNodesPercentage: z.int().min(0).max(100).optional(),
  /** Default 100. */
  minCandidateNodesAbsolute: z.int().min(0).optional(),
}));

export type DefaultPreemptionArgs = ArgsOf<typeof defaultPreemptionArgs>;
