// Replication controllers (core/v1; pkg/registry/core/replicationcontroller).
import type { ReplicationController } from '#api/core/v1';
import { type FieldError, root } from '#apimachinery/field';
import { fromSet } from '#apimachinery/labels';
import { validateCounters } from '../common/replica-status.ts';
import * as templates from '../pod/templates.ts';
import { nonnegative } from '../../common/numbers.ts';
import { formatLabels } from '../../common/printing.ts';
import { collect, isEmptyMap } from '../../common/report.ts';
import { statusDoor } from '../../common/strategy.ts';
import { defineKind, type KindContext } from '../../kind.ts';
import { podTemplateDefaults } from '../pod/defaults.ts';
import { validatePodTemplateSpec } from '../pod/validation/spec.ts';

const path = root('spec');

function defaults(draft: ReplicationController): void {
  const spec = (draft.spec ??= {});
  spec.replicas ??= 1;
  const labels = spec.template?.metadata?.labels;
  if (labels) {
    if (isEmptyMap(spec.selector)) spec.selector = { ...labels };
    if (isEmptyMap(draft.metadata.labels)) draft.metadata.labels = { ...labels };
  }
  if (spec.template) podTemplateDefaults(spec.template);
}

function validate({ spec = {} }: ReplicationController, context: KindContext, old?: ReplicationController): FieldError[] {
  return collect((report) => {
    nonnegative(report, path.child('minReadySeconds'), spec.minReadySeconds);
    if (isEmptyMap(spec.selector)) report.required(path.child('selector'));
    if (spec.replicas === undefined) report.required(path.child('replicas'));
    nonnegative(report, path.child('replicas'), spec.replicas);
    const at = path.child('template');
    if (!spec.template) return report.required(at);
    templates.validateSelectorMatches(report, at, fromSet(spec.selector ?? {}), spec.template);
    validatePodTemplateSpec(report, at, spec.template, context, old?.spec?.template);
    templates.validateAlwaysRunning(report, at, spec.template, 'ReplicationController');
  });
}

export const replicationController = defineKind<ReplicationController>({
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  metadataRules: 'change',
  defaults,
  ...templates.ownTemplate,
  validate,
  validateUpdate: (object, old, context) => validate(object, context, old),
  warnings: (object, old) => templates.templateWarnings(object, old, object.spec?.template),
  status: statusDoor<ReplicationController>({
    validateUpdate: ({ status }) =>
      collect((report) => {
        const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const;
        validateCounters(
          report,
          status ?? { replicas: 0 },
          ['replicas', ...parts, 'observedGeneration'],
          [...parts],
          'readyReplicas',
        );
      }),
  }),
  scale: {
    specReplicas: ({ spec }) => spec?.replicas ?? 0,
    setSpecReplicas(draft, replicas) {
      draft.spec = { ...draft.spec, replicas };
    },
    statusReplicas: ({ status }) => status?.replicas ?? 0,
    selector: ({ spec }) => fromSet(spec?.selector ?? {}).toString(),
  },
  printer: templates.replicasPrinter(({ spec }) => formatLabels(spec?.selector)),
  selectableFields: ({ status }) => ({ 'status.replicas': String(status?.replicas ?? 0) }),
  deletion: { defaultPropagation: 'Orphan' },
});
