// Rules of whole pods, when they are made and when they change (pkg/apis/core/validation, ValidatePodCreate and ValidatePodUpdate).
import type * as core from '#api/core/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { inclusiveRangeError } from '#apimachinery/validation';
import type { KindContext } from '../../../kind.ts';
import { semanticEqual } from '../../../common/equality.ts';
import { maxInt32 } from '../../../common/numbers.ts';
import { collect, isEmpty, type Report } from '../../../common/report.ts';
import { internalDiff } from '../../../common/unified-diff.ts';
import { validateAnnotationUpdates, validatePodAnnotations, validateProfilesMatch } from './annotations.ts';
import { validateImageSpace } from './containers.ts';
import { gatedChanges } from './gated.ts';
import { type PodRules, podRules } from './rules.ts';
import { validatePodSpec } from './spec.ts';
import { validateOnlyAddedTolerations } from './tolerations.ts';

const specPath = root('spec');
const annotationsPath = root('metadata', 'annotations');

export const specOf = (pod: core.Pod): core.PodSpec => pod.spec ?? { containers: [] };

/** What holds for a pod at any time. */
export function validatePodAndSpec(report: Report, pod: core.Pod, rules: PodRules): void {
  const spec = specOf(pod);
  validatePodAnnotations(report, annotationsPath, pod, rules);
  validatePodSpec(report, specPath, spec, pod.metadata, rules);
  if (!spec.serviceAccountName) validateNoTokens(report, spec);
  spec.containers?.forEach((container, index) =>
    validateImageSpace(report, specPath.child('containers').index(index), container),
  );
  spec.initContainers?.forEach((container, index) =>
    validateImageSpace(report, specPath.child('initContainers').index(index), container),
  );
}

function validateNoTokens(report: Report, spec: core.PodSpec): void {
  spec.volumes?.forEach((volume, index) => {
    volume.projected?.sources?.forEach(({ serviceAccountToken }, source) => {
      if (!serviceAccountToken) return;
      const at = specPath.child('volumes').index(index).child('projected', 'sources').index(source).child('serviceAccountToken');
      report.forbidden(at, 'must not be specified when serviceAccountName is not set');
    });
  });
}

export function validatePodCreate(pod: core.Pod, context: KindContext): FieldError[] {
  const spec = specOf(pod);
  return collect((report) => {
    validatePodAndSpec(report, pod, podRules(pod, context, true));
    if (!isEmpty(spec.ephemeralContainers)) report.forbidden(specPath.child('ephemeralContainers'), 'cannot be set on create');
    if (spec.nodeName && !isEmpty(spec.schedulingGates)) {
      report.forbidden(specPath.child('nodeName'), 'cannot be set until all schedulingGates have been cleared');
    }
    validateProfilesMatch(report, specPath, pod);
  });
}

const updatable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

export function validatePodUpdate(pod: core.Pod, old: core.Pod, context: KindContext): FieldError[] {
  const rules = podRules(pod, context, true, old);
  return collect((report) => {
    validatePodAndSpec(report, pod, rules);
    validateAnnotationUpdates(report, annotationsPath, pod.metadata, old.metadata);
    validatePodAnnotations(report, annotationsPath, pod, rules);
    validateSpecUpdate(report, specOf(pod), specOf(old), rules);
  });
}

function validateSpecUpdate(report: Report, spec: core.PodSpec, old: core.PodSpec, rules: PodRules): void {
  if (!sameContainers(report, specPath.child('containers'), spec.containers, old.containers)) return;
  if (!sameContainers(report, specPath.child('initContainers'), spec.initContainers, old.initContainers)) return;
  if (!validateDeadline(report, specPath.child('activeDeadlineSeconds'), spec.activeDeadlineSeconds, old.activeDeadlineSeconds))
    return;
  validateOnlyAddedTolerations(
    report,
    specPath.child('tolerations'),
    spec.tolerations,
    old.tolerations,
    rules.allowComparisonTolerations,
  );
  validateOnlyDeletedGates(report, specPath.child('schedulingGates'), spec.schedulingGates, old.schedulingGates);
  if (semanticEqual(spec, old)) return;
  const rest: core.PodSpec = {
    ...spec,
    containers: withImagesOf(spec.containers, old.containers),
    initContainers: withImagesOf(spec.initContainers, old.initContainers),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    schedulingGates: old.schedulingGates,
    tolerations: old.tolerations,
  };
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1) {
    rest.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds;
  }
  if (!isEmpty(old.schedulingGates)) gatedChanges(report, specPath, rest, old);
  if (!semanticEqual(rest, old))
    report.forbidden(
      specPath,
      `pod updates may not change fields other than ${updatable.join(',')}\n${internalDiff('core.PodSpec', old, rest)}`,
    );
}

const withImagesOf = <T extends core.Container[] | undefined>(containers: T, old: core.Container[] = []): T =>
  containers?.map((container, index) => ({ ...container, image: old[index]?.image })) as T;

function sameContainers(report: Report, path: Path, containers: core.Container[] = [], old: core.Container[] = []): boolean {
  if (containers.length !== old.length) {
    report.forbidden(path, 'pod updates may not add or remove containers');
    return false;
  }
  containers.forEach((container, index) => {
    report.need(path.index(index), container, 'image');
    validateImageSpace(report, path.index(index), container);
  });
  return true;
}

function validateDeadline(report: Report, path: Path, deadline: number | undefined, old: number | undefined): boolean {
  if (deadline === undefined) {
    if (old !== undefined) report.invalid(path, null, 'must not update from a positive integer to nil value');
    return true;
  }
  const inRange = deadline >= 0 && deadline <= maxInt32;
  if (!inRange) report.invalid(path, deadline, inclusiveRangeError(0, maxInt32));
  else if (old !== undefined && old < deadline) report.invalid(path, deadline, 'must be less than or equal to previous value');
  else return true;
  return false;
}

function validateOnlyDeletedGates(
  report: Report,
  path: Path,
  gates: core.PodSchedulingGate[] = [],
  old: core.PodSchedulingGate[] = [],
): void {
  const known = new Set(old.map(({ name }) => name));
  gates.forEach(({ name }, index) => {
    if (!known.has(name))
      report.forbidden(path.index(index).child('name'), `only deletion is allowed, but found new scheduling gate '${name}'`);
  });
}
