// Priority: the number behind a pod's priority class (plugin/pkg/admission/priority).
import type { Pod } from '#api/core/v1';
import type { PriorityClass } from '#api/scheduling/v1';
import { asKind } from '#apimachinery/meta';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import type { ReadOnlyCluster } from '../../../storage/read-only-cluster.ts';
import { definePlugin, deny, handling, isFor, type PluginFactory } from '../../plugin.ts';

const schedulingGroup = 'scheduling.k8s.io';

const defaultClass = (cluster: ReadOnlyCluster): PriorityClass | undefined =>
  cluster
    .list<PriorityClass>(schedulingGroup, 'priorityclasses')
    .filter((candidate) => candidate.globalDefault)
    .reduce<PriorityClass | undefined>(
      (lowest, candidate) => (!lowest || (candidate.value ?? 0) < (lowest.value ?? 0) ? candidate : lowest),
      undefined,
    );

function chosenClass(cluster: ReadOnlyCluster, request: AdmissionRequest, name: string | undefined) {
  if (!name) {
    const found = defaultClass(cluster);
    return found
      ? { name: found.metadata.name, value: found.value ?? 0, policy: found.preemptionPolicy }
      : { name: undefined, value: 0, policy: 'PreemptLowerPriority' };
  }
  const found = cluster.get<PriorityClass>(schedulingGroup, 'priorityclasses', '', name);
  if (!found) throw deny(request, `no PriorityClass with name ${name} was found`);
  return { name, value: found.value ?? 0, policy: found.preemptionPolicy };
}

function prioritize(cluster: ReadOnlyCluster, request: AdmissionRequest, pod: Pod): void {
  const { spec } = pod;
  if (!spec) return;
  const { name, value, policy } = chosenClass(cluster, request, spec.priorityClassName);
  if (spec.priority !== undefined && spec.priority !== value) {
    throw deny(
      request,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  if (name) spec.priorityClassName = name;
  spec.priority = value;
  if (policy === undefined) return;
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    throw deny(
      request,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  spec.preemptionPolicy = policy;
}

const systemClasses: ReadonlySet<string> = new Set(['system-node-critical', 'system-cluster-critical']);

function protectSystemClass(request: AdmissionRequest): void {
  if (request.operation !== 'DELETE' || !systemClasses.has(request.name)) return;
  throw deny(request, 'this is a system priority class and cannot be deleted');
}

function keepPriority(pod: Pod, old: Pod): void {
  if (!pod.spec || !old.spec) return;
  if (pod.spec.priority === undefined && old.spec.priority !== undefined) pod.spec.priority = old.spec.priority;
  if (pod.spec.preemptionPolicy === undefined && old.spec.preemptionPolicy !== undefined) {
    pod.spec.preemptionPolicy = old.spec.preemptionPolicy;
  }
}

export const priority: PluginFactory = ({ cluster }) => ({
  name: 'Priority',
  handles: handling('CREATE', 'UPDATE', 'DELETE'),
  admit(request) {
    if (isFor(request, schedulingGroup, 'priorityclasses')) return protectSystemClass(request);
    if (!isFor(request, '', 'pods')) return;
    if (request.operation === 'CREATE') prioritize(cluster, request, request.object as Pod);
    else if (request.operation === 'UPDATE') keepPriority(request.object as Pod, request.oldObject as Pod);
  },
  validate(request) {
    if (!isFor(request, schedulingGroup, 'priorityclasses') || request.operation === 'DELETE') return;
    const wanted = asKind<PriorityClass>(request.object);
    const current = wanted.globalDefault ? defaultClass(cluster) : undefined;
    if (!current || (request.operation === 'UPDATE' && current.metadata.name === wanted.metadata.name)) return;
    throw deny(request, `PriorityClass ${current.metadata.name} is already marked as default. Only one default can exist`);
  },
});

export const plugin = definePlugin('Priority', priority);
