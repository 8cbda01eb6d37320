// Replica sets (apps/v1; pkg/registry/apps/replicaset).
import type { ReplicaSet } from '#api/apps/v1';
import { type FieldError, root } from '#apimachinery/field';
import type { LabelSelector } from '#apimachinery/labels';
import { immutable } from '../../common/immutable.ts';
import { nonnegative } from '../../common/numbers.ts';
import { formatSelector } from '../../common/printing.ts';
import { collect } from '../../common/report.ts';
import { statusDoor } from '../../common/strategy.ts';
import { podTemplateDefaults } from '../../core/pod/defaults.ts';
import { defineKind, type KindContext } from '../../kind.ts';
import { validateCounters } from '../../core/common/replica-status.ts';
import * as templates from '../../core/pod/templates.ts';

const path = root('spec');

function validate({ spec }: ReplicaSet, context: KindContext, old?: ReplicaSet): FieldError[] {
  return collect((report) => {
    if (!spec) return report.required(path);
    nonnegative(report, path.child('replicas'), spec.replicas);
    nonnegative(report, path.child('minReadySeconds'), spec.minReadySeconds);
    templates.validateRequiredSelector(report, path.child('selector'), spec.selector, 'deployment');
    const selector = templates.compiled(spec.selector);
    if (!selector) report.invalid(path.child('selector'), spec.selector, 'invalid label selector');
    else templates.validateReplicaTemplate(report, selector, spec.template ?? {}, context, old?.spec?.template);
  });
}

export const replicaSet = defineKind<ReplicaSet>({
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  metadataRules: 'change',
  defaults(draft) {
    const spec = (draft.spec ??= { selector: {} });
    spec.replicas ??= 1;
    podTemplateDefaults((spec.template ??= {}));
  },
  ...templates.ownTemplate,
  validate,
  validateUpdate: (object, old, context) => [
    ...validate(object, context, old),
    ...collect((report) => immutable(report, path.child('selector'), object.spec?.selector, old.spec?.selector)),
  ],
  warnings: (object, old) => templates.templateWarnings(object, old, object.spec?.template),
  status: statusDoor<ReplicaSet>({
    validateUpdate: ({ status }) =>
      collect((report) => {
        const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const;
        const fields = ['replicas', ...parts, 'observedGeneration', 'terminatingReplicas'] as const;
        validateCounters(report, status ?? { replicas: 0 }, [...fields], [...parts], 'readyReplicas');
      }),
  }),
  scale: templates.replicasScale(),
  printer: templates.replicasPrinter(({ spec }) => formatSelector(spec?.selector as LabelSelector | undefined)),
});
