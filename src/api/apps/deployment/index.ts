// Deployments (apps/v1; pkg/registry/apps/deployment).
import type { Deployment, DeploymentStrategy } from '#api/apps/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { immutable } from '../../common/immutable.ts';
import { nonnegative } from '../../common/numbers.ts';
import { age, column, columns, wideColumns } from '../../common/printing.ts';
import { collect, type Report } from '../../common/report.ts';
import { statusDoor } from '../../common/strategy.ts';
import { podTemplateDefaults } from '../../core/pod/defaults.ts';
import { defineKind, type KindContext } from '../../kind.ts';
import { isZero, validateAtMostAll, validateIntOrPercent } from '../common/rolling-update.ts';
import { validateCollisionCount, validateCounters } from '../../core/common/replica-status.ts';
import * as templates from '../../core/pod/templates.ts';

const path = root('spec');

function defaults(draft: Deployment): void {
  const spec = (draft.spec ??= { selector: {}, template: {} });
  spec.replicas ??= 1;
  const strategy = (spec.strategy ??= {});
  strategy.type ||= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate ??= {};
    strategy.rollingUpdate.maxUnavailable ??= '25%';
    strategy.rollingUpdate.maxSurge ??= '25%';
  }
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  podTemplateDefaults((spec.template ??= {}));
}

// As upstream's internal type prints: its fields are no pointers.
const printed = ({ type, rollingUpdate }: DeploymentStrategy): unknown => ({
  Type: type ?? '',
  RollingUpdate: rollingUpdate
    ? { MaxUnavailable: rollingUpdate.maxUnavailable ?? 0, MaxSurge: rollingUpdate.maxSurge ?? 0 }
    : null,
});

function validateStrategy(report: Report, at: Path, strategy: DeploymentStrategy): void {
  const rolling = at.child('rollingUpdate');
  const { type, rollingUpdate: update } = strategy;
  if (type === 'Recreate') {
    if (update) report.forbidden(rolling, "may not be specified when strategy `type` is 'Recreate'");
  } else if (type !== 'RollingUpdate') report.notSupported(at, printed(strategy), ['Recreate', 'RollingUpdate']);
  else if (!update) report.required(rolling, 'this should be defaulted and never be nil');
  else {
    const unavailable = rolling.child('maxUnavailable');
    validateIntOrPercent(report, unavailable, update.maxUnavailable);
    validateIntOrPercent(report, rolling.child('maxSurge'), update.maxSurge);
    if (isZero(update.maxUnavailable) && isZero(update.maxSurge)) {
      report.invalid(unavailable, update.maxUnavailable ?? 0, 'may not be 0 when `maxSurge` is 0');
    }
    validateAtMostAll(report, unavailable, update.maxUnavailable);
  }
}

function validate({ spec }: Deployment, context: KindContext, old?: Deployment): FieldError[] {
  return collect((report) => {
    if (!spec) return report.required(path);
    nonnegative(report, path.child('replicas'), spec.replicas);
    templates.validateRequiredSelector(report, path.child('selector'), spec.selector, 'deployment');
    const selector = templates.compiled(spec.selector);
    if (!selector) report.invalid(path.child('selector'), spec.selector, 'invalid label selector');
    else templates.validateReplicaTemplate(report, selector, spec.template, context, old?.spec?.template);
    validateStrategy(report, path.child('strategy'), spec.strategy ?? {});
    nonnegative(report, path.child('minReadySeconds'), spec.minReadySeconds);
    nonnegative(report, path.child('revisionHistoryLimit'), spec.revisionHistoryLimit);
    const deadline = spec.progressDeadlineSeconds;
    if (deadline === undefined) return;
    nonnegative(report, path.child('progressDeadlineSeconds'), deadline);
    if (deadline <= (spec.minReadySeconds ?? 0))
      report.invalid(path.child('progressDeadlineSeconds'), deadline, 'must be greater than minReadySeconds');
  });
}

export const deployment = defineKind<Deployment>({
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  metadataRules: 'change',
  generation: ({ spec, metadata }: Deployment) => ({ spec, annotations: metadata.annotations ?? {} }),
  defaults,
  ...templates.ownTemplate,
  validate,
  validateUpdate: (object, old, context) => [
    ...validate(object, context, old),
    ...collect((report) => immutable(report, path.child('selector'), object.spec?.selector, old.spec?.selector)),
  ],
  warnings: (object, old) => templates.templateWarnings(object, old, object.spec?.template),
  status: statusDoor<Deployment>(
    {
      validateUpdate: ({ status = {} }, old) =>
        collect((report) => {
          const counters = [
            'observedGeneration',
            'replicas',
            'updatedReplicas',
            'readyReplicas',
            'availableReplicas',
            'unavailableReplicas',
          ] as const;
          const fields = [...counters, 'terminatingReplicas', 'collisionCount'] as const;
          validateCounters(
            report,
            status,
            [...fields],
            ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
            'readyReplicas',
          );
          validateCollisionCount(report, status.collisionCount, old.status?.collisionCount);
        }),
    },
    'labels',
  ),
  scale: templates.replicasScale(),
  printer: {
    columns: [
      ...columns('Name', 'Ready'),
      column('Up-to-date'),
      column('Available'),
      column('Age'),
      ...wideColumns('Containers', 'Images', 'Selector'),
    ],
    cells({ metadata, spec, status }, now) {
      const selector = templates.compiled(spec?.selector);
      return [
        metadata.name ?? '',
        `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
        status?.updatedReplicas ?? 0,
        status?.availableReplicas ?? 0,
        age(metadata, now),
        ...templates.containerCells(spec?.template),
        selector ? selector.toString() : '<invalid>',
      ];
    },
  },
});
