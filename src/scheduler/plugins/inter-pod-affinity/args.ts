// The arguments of InterPodAffinity (https://kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1/). Pure.
import * as z from 'zod';
import { type ArgsOf, argsSchema } from '../../framework/args.ts';

export const interPodAffinityArgs = argsSchema('InterPodAffinityArgs', () => ({
  /** What a required term of a pod already there counts when it is about the new pod; default 1. */
  hardPodAffinityWeight: z.int().min(0).max(100).optional(),
  ignorePreferredTermsOfExistingPods: z.boolean().optional(),
}));

export type InterPodAffinityArgs = ArgsOf<typeof interPodAffinityArgs>;
