// Rules of stateful sets (pkg/apis/apps/validation, ValidateStatefulSet).
import type * as apps from '#api/apps/v1';
import type { PersistentVolumeClaim, PodTemplateSpec, Volume } from '#api/core/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { isDNS1123Label } from '#apimachinery/validation';
import { semanticEqual } from '../../common/equality.ts';
import { validateAnnotations, validateLabels } from '../../common/labels.ts';
import { nonnegative } from '../../common/numbers.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { validateClaimSpec } from '../../core/persistentvolumeclaim/validation.ts';
import { validatePodAnnotations } from '../../core/pod/validation/annotations.ts';
import { podRules } from '../../core/pod/validation/rules.ts';
import { validatePodTemplateSpec } from '../../core/pod/validation/spec.ts';
import type { KindContext } from '../../kind.ts';
import { isZero, validateAtMostAll, validateIntOrPercent } from '../common/rolling-update.ts';
import { validateCollisionCount, validateCounters } from '../../core/common/replica-status.ts';
import * as templates from '../../core/pod/templates.ts';

const path = root('spec');
const policies = ['Retain', 'Delete'];

interface Leniency {
  invalidServiceName?: boolean;
  podTemplate?: boolean;
  claimTemplates?: boolean;
}

function validateUpdateStrategy(report: Report, at: Path, strategy: apps.StatefulSetUpdateStrategy): void {
  const { type, rollingUpdate: update } = strategy;
  const rolling = at.child('rollingUpdate');
  const printed = update && { Partition: update.partition ?? 0, MaxUnavailable: update.maxUnavailable ?? null };
  if (!type) return report.required(at);
  if (type === 'OnDelete') {
    if (update) report.invalid(rolling, printed, "only allowed for updateStrategy 'RollingUpdate'");
  } else if (type !== 'RollingUpdate')
    report.invalid(at, { Type: type, RollingUpdate: printed ?? null }, "must be 'RollingUpdate' or 'OnDelete'");
  else if (update) {
    nonnegative(report, rolling.child('partition'), update.partition);
    if (update.maxUnavailable === undefined) return;
    const unavailable = rolling.child('maxUnavailable');
    validateIntOrPercent(report, unavailable, update.maxUnavailable);
    if (isZero(update.maxUnavailable)) report.invalid(unavailable, update.maxUnavailable, 'cannot be 0');
    validateAtMostAll(report, unavailable, update.maxUnavailable);
  }
}

/** The template with the volumes that claim templates will add, and without the names that the controller sets. */
function effectiveTemplate(template: PodTemplateSpec, claims: PersistentVolumeClaim[]): PodTemplateSpec {
  if (!template.spec) return template;
  const { subdomain: _subdomain, hostname: _hostname, ...spec } = template.spec;
  if (claims.length === 0) return { ...template, spec };
  const names = new Set(claims.map(({ metadata }) => metadata?.name ?? ''));
  const added: Volume[] = [...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...template, spec: { ...spec, volumes: [...added, ...(spec.volumes ?? []).filter(({ name }) => !names.has(name))] } };
}

function validateTemplate(
  report: Report,
  spec: apps.StatefulSetSpec,
  context: KindContext,
  leniency: Leniency,
  old: apps.StatefulSet | undefined,
): void {
  const at = path.child('template');
  const selector = templates.compiled(spec.selector);
  if (!selector) return report.invalid(path.child('selector'), spec.selector, '');
  const template = effectiveTemplate(spec.template, spec.volumeClaimTemplates ?? []);
  templates.validateSelectorMatches(report, at, selector, template);
  const before = old?.spec?.template;
  if (!leniency.podTemplate) validatePodTemplateSpec(report, at, template, context, before);
  // Upstream looks at these once more.
  validateLabels(report, at.child('labels'), template.metadata?.labels);
  validateAnnotations(report, at.child('annotations'), template.metadata?.annotations);
  validatePodAnnotations(report, at.child('annotations'), template, podRules(template, context, false, before));
}

function validateSpec(
  report: Report,
  spec: apps.StatefulSetSpec,
  context: KindContext,
  leniency: Leniency,
  old?: apps.StatefulSet,
): void {
  const management = spec.podManagementPolicy;
  const managementPath = path.child('podManagementPolicy');
  if (!management) report.required(managementPath);
  else if (management !== 'OrderedReady' && management !== 'Parallel') {
    report.invalid(managementPath, management, "must be 'OrderedReady' or 'Parallel'");
  }
  validateUpdateStrategy(report, path.child('updateStrategy'), spec.updateStrategy ?? {});
  const retention = spec.persistentVolumeClaimRetentionPolicy;
  if (retention) {
    for (const when of ['whenDeleted', 'whenScaled'] as const)
      report.known(path.child('persistentVolumeClaimRetentionPolicy', when), retention[when], policies);
  }
  if (!leniency.claimTemplates) {
    spec.volumeClaimTemplates?.forEach((claim, index) =>
      validateClaimSpec(report, path.child('volumeClaimTemplates').index(index).child('spec'), claim.spec ?? {}),
    );
  }
  nonnegative(report, path.child('replicas'), spec.replicas);
  nonnegative(report, path.child('minReadySeconds'), spec.minReadySeconds);
  nonnegative(report, path.child('ordinals.start'), spec.ordinals?.start);
  const name = spec.serviceName;
  if (!leniency.invalidServiceName && name) report.problems(path.child('serviceName'), name, isDNS1123Label(name));
  templates.validateRequiredSelector(report, path.child('selector'), spec.selector, 'statefulset');
  validateTemplate(report, spec, context, leniency, old);
  templates.validateAlwaysRunning(report, path.child('template'), spec.template, 'StatefulSet');
}

export const validateStatefulSet = ({ spec }: apps.StatefulSet, context: KindContext): FieldError[] =>
  collect((report) => (spec ? validateSpec(report, spec, context, {}) : report.required(path)));

const mutable = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
] as const;
const immutableText =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

export function validateStatefulSetUpdate(set: apps.StatefulSet, old: apps.StatefulSet, context: KindContext): FieldError[] {
  const { spec } = set;
  const before = old.spec;
  const leniency: Leniency = { invalidServiceName: true, claimTemplates: true };
  return collect((report) => {
    if (!spec || !before) return report.required(path);
    // An old set that would be refused today may keep its template.
    if (!isEmpty(collect((other) => validateSpec(other, before, context, leniency, old)))) leniency.podTemplate = true;
    validateSpec(report, spec, context, leniency, old);
    const rest: Record<string, unknown> = { ...spec };
    for (const field of mutable) rest[field] = before[field];
    if (!semanticEqual(rest, before)) report.forbidden(path, immutableText);
  });
}

export const validateStatefulSetStatus = ({ status }: apps.StatefulSet, old: apps.StatefulSet): FieldError[] =>
  collect((report) => {
    const parts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const;
    const fields = ['replicas', ...parts, 'observedGeneration', 'collisionCount'] as const;
    validateCounters(report, status ?? { replicas: 0 }, [...fields], [...parts], 'status.readyReplicas');
    validateCollisionCount(report, status?.collisionCount, old.status?.collisionCount);
  });
