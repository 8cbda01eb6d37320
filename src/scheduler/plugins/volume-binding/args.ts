// The arguments of VolumeBinding (https://kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1/). Pure.
import * as z from 'zod';
import { type ArgsOf, argsSchema } from '../../framework/args.ts';

export const volumeBindingArgs = argsSchema('VolumeBindingArgs', () => ({
  /** How long claims may take to be bound; default 600. */
  bindTimeoutSeconds: z.int().min(0).optional(),
  /** How well volumes of a class fit, for the score of nodes; without effect, as upstream's VolumeCapacityPriority is off. */
  shape: z.array(z.strictObject({ utilization: z.int().min(0).max(100), score: z.int().min(0).max(10).default(0) })).optional(),
}));

export type VolumeBindingArgs = ArgsOf<typeof volumeBindingArgs>;
