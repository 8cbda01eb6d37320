// The arguments of NodeAffinity (https://kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1/). Pure.
import * as z from 'zod';
import { type ArgsOf, argsSchema } from '../../framework/args.ts';

export const nodeAffinityArgs = argsSchema('NodeAffinityArgs', () => {
  const requirement = z.strictObject({
    key: z.string(),
    operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']),
    values: z.array(z.string()).optional(),
  });
  const term = z.strictObject({
    matchExpressions: z.array(requirement).optional(),
    matchFields: z.array(requirement).optional(),
  });
  return {
    addedAffinity: z
      .strictObject({
        requiredDuringSchedulingIgnoredDuringExecution: z.strictObject({ nodeSelectorTerms: z.array(term) }).optional(),
        preferredDuringSchedulingIgnoredDuringExecution: z
          .array(z.strictObject({ weight: z.int().min(1).max(100), preference: term }))
          .optional(),
      })
      .optional(),
  };
});

export type NodeAffinityArgs = ArgsOf<typeof nodeAffinityArgs>;
