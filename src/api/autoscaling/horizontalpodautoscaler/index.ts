// Horizontal pod autoscalers (autoscaling/v2, and v1; pkg/registry/autoscaling/horizontalpodautoscaler).
import type { HorizontalPodAutoscaler } from '#api/autoscaling/v2';
import { age, columns } from '../../common/printing.ts';
import { ownStatus, statusDoor } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';
import { roundTripAnnotations } from './annotations.ts';
import { metricsText } from './columns.ts';
import { horizontalPodAutoscalerDefaults } from './defaults.ts';
import { fromStorage, toStorage } from './v1.ts';
import { validateHorizontalPodAutoscaler, validateHorizontalPodAutoscalerStatus } from './validation.ts';

export const horizontalPodAutoscaler = defineKind<HorizontalPodAutoscaler>({
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  metadataRules: 'change',
  generation: false,
  defaults: horizontalPodAutoscalerDefaults,
  ...ownStatus,
  fieldAnnotations: roundTripAnnotations,
  validate: (object) => validateHorizontalPodAutoscaler(object),
  validateUpdate: validateHorizontalPodAutoscaler,
  status: statusDoor<HorizontalPodAutoscaler>({ validateUpdate: validateHorizontalPodAutoscalerStatus }),
  conversions: { v1: { toStorage, fromStorage } },
  printer: {
    columns: columns('Name', 'Reference', 'Targets', 'MinPods', 'MaxPods', 'Replicas', 'Age'),
    cells: ({ metadata, spec, status }, now) => [
      metadata.name ?? '',
      `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`,
      metricsText(spec.metrics, status?.currentMetrics ?? []),
      spec.minReplicas === undefined ? '<unset>' : String(spec.minReplicas),
      spec.maxReplicas,
      status?.currentReplicas ?? 0,
      age(metadata, now),
    ],
  },
});
