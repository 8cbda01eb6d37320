// A pod's overhead and scheduling come from its RuntimeClass (KEP-688, plugin/pkg/admission/runtimeclass).
import type { Pod } from '#api/core/v1';
import type { RuntimeClass } from '#api/node/v1';
import { compareQuantities } from '#apimachinery/quantity';
import { own, quote } from '#utils';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import type { ReadOnlyCluster } from '../../../storage/read-only-cluster.ts';
import { definePlugin, deny, handling, isFor, type PluginFactory } from '../../plugin.ts';
import { mergeTolerations } from '../../tolerations.ts';

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
