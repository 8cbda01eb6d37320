// The arguments of PodTopologySpread (https://kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1/). Pure.
import * as z from 'zod';
import { type ArgsOf, argsSchema } from '../../framework/args.ts';

export const podTopologySpreadArgs = argsSchema('PodTopologySpreadArgs', () => ({
  /** `System`: upstream's own soft defaults; `List`: those of `defaultConstraints`. Default `System`. */
  defaultingType: z.enum(['System', 'List']).optional(),
  defaultConstraints: z
    .array(
      z.strictObject({
        maxSkew: z.int().min(1),
        topologyKey: z.string().min(1),
        whenUnsatisfiable: z.enum(['DoNotSchedule', 'ScheduleAnyway']),
        minDomains: z.int().min(1).optional(),
        nodeAffinityPolicy: z.enum(['Honor', 'Ignore']).optional(),
        nodeTaintsPolicy: z.enum(['Honor', 'Ignore']).optional(),
        matchLabelKeys: z.array(z.string()).optional(),
      }),
    )
    .optional(),
}));

export type PodTopologySpreadArgs = ArgsOf<typeof podTopologySpreadArgs>;
