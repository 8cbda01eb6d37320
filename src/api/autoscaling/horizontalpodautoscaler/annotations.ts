// Annotations that carry what autoscaling/v1 has no fields for (pkg/apis/autoscaling/annotations.go).
import type { ObjectMeta } from '#apimachinery/meta';
import { isEmptyMap } from '../../common/report.ts';

const prefix = 'autoscaling.alpha.kubernetes.io/';
export const metricsAnnotation = `${prefix}metrics`;
export const currentMetricsAnnotation = `${prefix}current-metrics`;
export const conditionsAnnotation = `${prefix}conditions`;
export const behaviorAnnotation = `${prefix}behavior`;

export const roundTripAnnotations: readonly string[] = [
  metricsAnnotation,
  currentMetricsAnnotation,
  conditionsAnnotation,
  behaviorAnnotation,
  `${prefix}scale-down-tolerance`,
  `${prefix}scale-up-tolerance`,
];

/** Takes out the annotations that carry newer fields through v1: objects of other versions do not have them. */
export function dropRoundTripAnnotations(metadata: ObjectMeta): void {
  const { annotations } = metadata;
  if (!annotations || !roundTripAnnotations.some((key) => key in annotations)) return;
  metadata.annotations = Object.fromEntries(Object.entries(annotations).filter(([key]) => !roundTripAnnotations.includes(key)));
  if (isEmptyMap(metadata.annotations)) delete metadata.annotations;
}
