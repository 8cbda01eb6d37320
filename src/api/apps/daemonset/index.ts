// Daemon sets (apps/v1; pkg/registry/apps/daemonset). The template's generation lives in an annotation since apps/v1 has no field for it.
import type { DaemonSet, DaemonSetUpdateStrategy } from '#api/apps/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import type { LabelSelector } from '#apimachinery/labels';
import { semanticEqual } from '../../common/equality.ts';
import { immutable } from '../../common/immutable.ts';
import { isEmptySelector, selectorHasInvalidValue, validateLabelSelector } from '../../common/labels.ts';
import { nonnegative, nonnegativeFields } from '../../common/numbers.ts';
import { age, column, formatLabels, formatSelector, wideColumns } from '../../common/printing.ts';
import { collect, type Report } from '../../common/report.ts';
import { keep, statusDoor } from '../../common/strategy.ts';
import { podTemplateDefaults } from '../../core/pod/defaults.ts';
import { podTemplateWarnings } from '../../core/pod/warnings.ts';
import { validatePodTemplateSpec } from '../../core/pod/validation/spec.ts';
import { defineKind, type KindContext } from '../../kind.ts';
import { isZero, validateAtMostAll, validateIntOrPercent } from '../common/rolling-update.ts';
import { validateCollisionCount } from '../../core/common/replica-status.ts';
import * as templates from '../../core/pod/templates.ts';

const path = root('spec');
const generationAnnotation = 'deprecated.daemonset.template.generation';

function defaults(draft: DaemonSet): void {
  // Whoever writes the object writes this too: upstream's conversion puts it there.
  (draft.metadata.annotations ??= {})[generationAnnotation] ??= '0';
  const spec = (draft.spec ??= { selector: {}, template: {} });
  const strategy = (spec.updateStrategy ??= {});
  strategy.type ||= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate ??= {};
    strategy.rollingUpdate.maxUnavailable ??= 1;
    strategy.rollingUpdate.maxSurge ??= 0;
  }
  spec.revisionHistoryLimit ??= 10;
  podTemplateDefaults((spec.template ??= {}));
}

const generationOf = ({ metadata }: DaemonSet): number => {
  const text = metadata.annotations?.[generationAnnotation] ?? '';
  return /^[+-]?\d+$/.test(text) ? Number(text) : 0;
};

function setGeneration({ metadata }: DaemonSet, generation: number): void {
  (metadata.annotations ??= {})[generationAnnotation] = String(generation);
}

function validateStrategy(report: Report, at: Path, strategy: DaemonSetUpdateStrategy): void {
  const { type, rollingUpdate: update } = strategy;
  if (type === 'OnDelete') return;
  const rolling = at.child('rollingUpdate');
  if (type !== 'RollingUpdate') {
    const printed = update ? { MaxUnavailable: update.maxUnavailable ?? 0, MaxSurge: update.maxSurge ?? 0 } : null;
    return report.notSupported(at, { Type: type ?? '', RollingUpdate: printed }, ['RollingUpdate', 'OnDelete']);
  }
  if (!update) return report.required(rolling);
  const unavailable = rolling.child('maxUnavailable');
  const surge = rolling.child('maxSurge');
  validateIntOrPercent(report, unavailable, update.maxUnavailable);
  validateIntOrPercent(report, surge, update.maxSurge);
  validateAtMostAll(report, unavailable, update.maxUnavailable);
  validateAtMostAll(report, surge, update.maxSurge);
  const gone = !isZero(update.maxUnavailable);
  const more = !isZero(update.maxSurge);
  if (gone && more) report.invalid(surge, update.maxSurge, 'may not be set when maxUnavailable is non-zero');
  if (!gone && !more) report.required(unavailable, 'cannot be 0 when maxSurge is 0');
}

function validate({ spec }: DaemonSet, context: KindContext, old?: DaemonSet): FieldError[] {
  return collect((report) => {
    if (!spec) return report.required(path);
    const at = path.child('template');
    validateLabelSelector(report, path.child('selector'), spec.selector, selectorHasInvalidValue(old?.spec?.selector));
    const selector = templates.compiled(spec.selector);
    if (selector) templates.validateSelectorMatches(report, at, selector, spec.template, true);
    if (spec.selector && isEmptySelector(spec.selector))
      report.invalid(path.child('selector'), spec.selector, 'empty selector is invalid for daemonset');
    validatePodTemplateSpec(report, at, spec.template, context, old?.spec?.template);
    templates.validateAlwaysRunning(report, at, spec.template, 'DaemonSet');
    nonnegative(report, path.child('minReadySeconds'), spec.minReadySeconds);
    validateStrategy(report, path.child('updateStrategy'), spec.updateStrategy ?? {});
    nonnegative(report, path.child('revisionHistoryLimit'), spec.revisionHistoryLimit);
  });
}

const counters = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
] as const;

const status = statusDoor<DaemonSet>({
  validateUpdate: (object, old) =>
    collect((report) => {
      if (object.status) nonnegativeFields(report, root('status'), object.status, ...counters);
      validateCollisionCount(report, object.status?.collisionCount, old.status?.collisionCount);
    }),
});

export const daemonSet = defineKind<DaemonSet>({
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  metadataRules: 'change',
  fieldAnnotations: [generationAnnotation],
  defaults,
  prepareForCreate(draft) {
    delete draft.status;
    setGeneration(draft, Math.max(1, generationOf(draft)));
    templates.dropDisabledTemplateFields(draft.spec?.template);
  },
  prepareForUpdate(draft, old) {
    keep(draft, old, 'status');
    templates.dropDisabledTemplateFields(draft.spec?.template, old.spec?.template);
    const changed = !semanticEqual(draft.spec?.template, old.spec?.template);
    setGeneration(draft, generationOf(old) + (changed ? 1 : 0));
  },
  validate,
  validateUpdate: (object, old, context) => [
    ...collect((report) => immutable(report, path.child('selector'), object.spec?.selector, old.spec?.selector)),
    ...validate(object, context, old),
  ],
  warnings: (object, old) =>
    !old || generationOf(object) !== generationOf(old) ? podTemplateWarnings(templates.templatePath, object.spec?.template) : [],
  resetFields: [['status']],
  status: {
    ...status,
    prepareForUpdate(draft, old, context) {
      status.prepareForUpdate?.(draft, old, context);
      // Upstream keeps it in the spec, which a status leaves alone.
      setGeneration(draft, generationOf(old));
    },
  },
  printer: {
    columns: [
      column('Name', { name: true }),
      ...['Desired', 'Current', 'Ready', 'Up-to-date', 'Available'].map((name) => column(name, { type: 'integer' })),
      column('Node Selector'),
      column('Age'),
      ...wideColumns('Containers', 'Images', 'Selector'),
    ],
    cells: ({ metadata, spec, status }, now) => [
      metadata.name ?? '',
      status?.desiredNumberScheduled ?? 0,
      status?.currentNumberScheduled ?? 0,
      status?.numberReady ?? 0,
      status?.updatedNumberScheduled ?? 0,
      status?.numberAvailable ?? 0,
      formatLabels(spec?.template.spec?.nodeSelector),
      age(metadata, now),
      ...templates.containerCells(spec?.template),
      formatSelector(spec?.selector as LabelSelector | undefined),
    ],
  },
});
