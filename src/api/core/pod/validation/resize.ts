// Rules of the doors `resize` and `ephemeralcontainers` (pkg/apis/core/validation, ValidatePodResize and
// ValidatePodEphemeralContainersUpdate; KEP-1287, KEP-277).
import type * as core from '#api/core/v1';
import { type FieldError, root } from '#apimachinery/field';
import { firstOfEach, quote } from '#utils';
import type { KindContext } from '../../../kind.ts';
import { semanticEqual } from '../../../common/equality.ts';
import type { ResourceList } from '../../../common/quantities.ts';
import { collect, isEmptyMap, nowhere, type Report } from '../../../common/report.ts';
import { internalDiff } from '../../../common/unified-diff.ts';
import { isSidecar } from '../containers.ts';
import { computeQOS, qosOf } from '../qos.ts';
import { mirrorAnnotation, validateAnnotationUpdates, validatePodAnnotations } from './annotations.ts';
import { specOf, validatePodAndSpec } from './pod.ts';
import { podRules } from './rules.ts';

const specPath = root('spec');

const only = (detail: string): FieldError[] => collect((report) => report.forbidden(nowhere, detail));

export function validateEphemeralContainersUpdate(pod: core.Pod, old: core.Pod, context: KindContext): FieldError[] {
  if (old.metadata.annotations?.[mirrorAnnotation] !== undefined) return only('static pods do not support ephemeral containers');
  const rules = podRules(pod, context, true, old);
  const path = specPath.child('ephemeralContainers');
  return collect((report) => {
    validatePodAndSpec(report, pod, rules);
    validateAnnotationUpdates(report, root('metadata', 'annotations'), pod.metadata, old.metadata);
    validatePodAnnotations(report, root('metadata', 'annotations'), pod, rules);
    const named = firstOfEach(specOf(pod).ephemeralContainers ?? [], ({ name }) => name);
    for (const before of specOf(old).ephemeralContainers ?? []) {
      const now = named.get(before.name);
      if (!now) report.forbidden(path, `existing ephemeral containers ${quote(before.name)} may not be removed\n`);
      else if (!semanticEqual(now, before)) {
        report.forbidden(
          path,
          `existing ephemeral containers ${quote(before.name)} may not be changed\n${internalDiff('core.EphemeralContainer', before, now)}`,
        );
      }
    }
  });
}

export function validateResize(pod: core.Pod, old: core.Pod, context: KindContext): FieldError[] {
  if (old.metadata.annotations?.[mirrorAnnotation] !== undefined) return only('static pods cannot be resized');
  if (specOf(old).os?.name === 'windows') return only('windows pods cannot be resized');
  return collect((report) => {
    validatePodAndSpec(report, pod, podRules(pod, context, true, old));
    if (qosOf(old) !== computeQOS(specOf(pod))) {
      report.invalid(specPath, pod.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing');
    }
    const running = old.status?.containerStatuses?.find(({ state }) => state?.running);
    if (running && !running.resources) report.forbidden(specPath, 'Pod running on node without support for resize');
    validateSpecResize(report, specOf(pod), specOf(old));
  });
}

function validateSpecResize(report: Report, spec: core.PodSpec, old: core.PodSpec): void {
  const before = report.count;
  const rest: core.PodSpec = { ...spec };
  if (hasAmounts(old.resources) || hasAmounts(spec.resources)) resizePod(report, rest, old);
  if (!sameOrder(report, spec, old)) return;
  for (const list of ['initContainers', 'containers'] as const) {
    old[list]?.forEach(({ resources }, index) => validateKept(report, list, index, spec[list]?.[index]?.resources, resources));
  }
  rest.containers = (spec.containers ?? []).map((container, index) => {
    const was = old.containers[index] ?? container;
    const munged = withComputeOf(container, was);
    if (!semanticEqual(munged, was)) report.forbidden(specPath, 'only cpu and memory resources are mutable');
    return munged;
  });
  rest.initContainers = spec.initContainers?.map((container, index) =>
    resizeInit(report, container, old.initContainers?.[index] ?? container, index),
  );
  if (report.count === before && !semanticEqual(rest, old))
    report.forbidden(specPath, 'only cpu and memory resources are mutable');
}

function resizeInit(report: Report, container: core.Container, was: core.Container, index: number): core.Container {
  const at = specPath.child('initContainers').index(index);
  const munged = withComputeOf(container, was);
  if (!semanticEqual(munged, was))
    report.forbidden(at, 'only cpu and memory resources for init or sidecar containers are mutable');
  if (!isSidecar(container) && !semanticEqual(container, was)) {
    for (const { restartPolicy } of container.resizePolicy ?? []) {
      if (restartPolicy === 'RestartContainer') {
        report.forbidden(at, 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized');
      }
    }
  }
  return munged;
}

const hasAmounts = (resources: core.ResourceRequirements | undefined): boolean =>
  !isEmptyMap(resources?.requests) || !isEmptyMap(resources?.limits);

const removed = (list: ResourceList = {}, old: ResourceList = {}): boolean =>
  Object.keys(old).some((name) => list[name] === undefined);

function resizePod(report: Report, rest: core.PodSpec, old: core.PodSpec): void {
  const at = specPath.child('resources');
  if (old.resources && !rest.resources) return report.forbidden(at, 'pod-level resources cannot be removed');
  if (removed(rest.resources?.requests, old.resources?.requests))
    report.forbidden(at.child('requests'), 'pod-level resource requests cannot be removed');
  if (removed(rest.resources?.limits, old.resources?.limits))
    report.forbidden(at.child('limits'), 'pod-level resource limits cannot be removed');
  rest.resources = computeOf(rest.resources, old.resources);
  if (!old.resources && !hasAmounts(rest.resources) && !rest.resources?.claims?.length) delete rest.resources;
  if (!semanticEqual(rest.resources, old.resources))
    report.forbidden(specPath, 'only cpu and memory resources are mutable at pod-level');
}

function sameOrder(report: Report, spec: core.PodSpec, old: core.PodSpec): boolean {
  const before = report.count;
  for (const list of ['containers', 'initContainers'] as const) {
    const now = spec[list] ?? [];
    const was = old[list] ?? [];
    const at = specPath.child(list);
    if (now.length !== was.length) report.forbidden(at, `${list} may not be added or removed on resize`);
    else {
      was.forEach(({ name }, index) => {
        if (now[index]?.name !== name)
          report.forbidden(at.index(index).child('name'), `${list} may not be renamed or reordered on resize`);
      });
    }
  }
  return report.count === before;
}

function validateKept(
  report: Report,
  list: string,
  index: number,
  now: core.ResourceRequirements | undefined,
  was: core.ResourceRequirements | undefined,
): void {
  const at = specPath.child(list).index(index).child('resources');
  if (removed(now?.requests, was?.requests)) report.forbidden(at.child('requests'), 'resource requests cannot be removed');
  if (removed(now?.limits, was?.limits)) report.forbidden(at.child('limits'), 'resource limits cannot be removed');
}

function withCompute(list: ResourceList | undefined, old: ResourceList | undefined): ResourceList | undefined {
  if (!list && !old) return undefined;
  const { cpu: _cpu, memory: _memory, ...others } = list ?? {};
  const kept: ResourceList = others;
  for (const name of ['cpu', 'memory']) if (old?.[name] !== undefined) kept[name] = old[name];
  return kept;
}

/** The amounts with CPU and memory as they were. */
const computeOf = (
  resources: core.ResourceRequirements | undefined,
  old: core.ResourceRequirements | undefined,
): core.ResourceRequirements => ({
  ...resources,
  limits: withCompute(resources?.limits, old?.limits),
  requests: withCompute(resources?.requests, old?.requests),
});

// Upstream drops the claims on its way: new ones are no change, but a container that has some is never the same.
const withComputeOf = (container: core.Container, old: core.Container): core.Container => {
  const { claims: _, ...resources } = computeOf(container.resources, old.resources);
  return { ...container, resources };
};
