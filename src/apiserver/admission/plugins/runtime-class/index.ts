// A pod's overhead and scheduling come from its RuntimeClass (KEP-688, plugin/pkg/admission/runtimeclass).
import type { Pod, Toleration } from '#api/core/v1';
import type { RuntimeClass } from '#api/node/v1';
import { compareQuantities } from '#apimachinery/quantity';
import { own, quote } from '#utils';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import type { ReadOnlyCluster } from '../../../storage/read-only-cluster.ts';
import { definePlugin, deny, handling, isFor, type PluginFactory } from '../../plugin.ts';

type Amounts = Record<string, string>;

const sameAmounts = (a: Amounts = {}, b: Amounts = {}): boolean => {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => {
      const other = own(b, key);
      return other !== undefined && compareQuantities(a[key] as string, other) === 0;
    })
  );
};

const sameToleration = (a: Toleration, b: Toleration): boolean =>
  a.key === b.key &&
  a.operator === b.operator &&
  a.value === b.value &&
  a.effect === b.effect &&
  a.tolerationSeconds === b.tolerationSeconds;

/** Whether `wide` tolerates all that `narrow` does. */
function covers(wide: Toleration, narrow: Toleration): boolean {
  if (sameToleration(wide, narrow)) return true;
  if ((narrow.key ?? '') !== (wide.key ?? '') && (wide.key || wide.operator !== 'Exists')) return false;
  if (narrow.effect !== wide.effect && wide.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (wide.operator === 'Exists') return true;
  return (wide.operator ?? 'Equal') === 'Equal' && narrow.operator === 'Equal' && (narrow.value ?? '') === (wide.value ?? '');
}

/** Both lists without what another entry makes redundant. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  for (const [i, toleration] of all.entries()) {
    const redundant =
      merged.some((kept) => covers(kept, toleration)) ||
      all.slice(i + 1).some((later) => !sameToleration(later, toleration) && covers(later, toleration));
    if (!redundant) merged.push(toleration);
  }
  return merged;
}

function classOf(cluster: ReadOnlyCluster, request: AdmissionRequest, pod: Pod): RuntimeClass | undefined {
  const name = pod.spec?.runtimeClassName;
  if (name === undefined) return undefined;
  const found = cluster.get<RuntimeClass>('node.k8s.io', 'runtimeclasses', '', name);
  if (!found) throw deny(request, `pod rejected: RuntimeClass ${quote(name)} not found`);
  return found;
}

const mismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

function setScheduling(
  request: AdmissionRequest,
  spec: NonNullable<Pod['spec']>,
  scheduling: NonNullable<RuntimeClass['scheduling']>,
): void {
  const selector = { ...spec.nodeSelector };
  for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
    const wanted = own(selector, key);
    if (wanted !== undefined && wanted !== value) {
      throw deny(
        request,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${wanted}`,
      );
    }
    selector[key] = value;
  }
  if (Object.keys(selector).length > 0) spec.nodeSelector = selector;
  const tolerations = mergeTolerations(spec.tolerations ?? [], scheduling.tolerations ?? []);
  if (tolerations.length > 0) spec.tolerations = tolerations;
}

export const runtimeClass: PluginFactory = ({ cluster }) => ({
  name: 'RuntimeClass',
  handles: handling('CREATE'),
  admit(request) {
    if (!isFor(request, '', 'pods')) return;
    const pod = request.object as Pod;
    const found = classOf(cluster, request, pod);
    const { spec } = pod;
    if (!found || !spec) return;
    if (found.overhead) {
      const own = Object.keys(spec.overhead ?? {}).length > 0;
      if (own && !sameAmounts(found.overhead.podFixed, spec.overhead)) throw deny(request, mismatch);
      if (found.overhead.podFixed) spec.overhead = { ...found.overhead.podFixed };
    }
    if (found.scheduling) setScheduling(request, spec, found.scheduling);
  },
  validate(request) {
    if (!isFor(request, '', 'pods')) return;
    const pod = request.object as Pod;
    const overhead = classOf(cluster, request, pod)?.overhead;
    if (overhead) {
      if (!sameAmounts(overhead.podFixed, pod.spec?.overhead)) throw deny(request, mismatch);
    } else if (pod.spec?.overhead !== undefined) {
      throw deny(request, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
    }
  },
});

export const plugin = definePlugin('RuntimeClass', runtimeClass);
