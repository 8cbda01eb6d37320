// Whether the node takes a pod that was bound to it (upstream pkg/kubelet/lifecycle/predicate.go, scheduler AdmissionCheck). Pure.
import type { Node, Pod } from '#api/core/v1';
import { parseQuantity } from '#apimachinery/quantity';
import {
  hostPorts,
  isStaticPod,
  podRequests,
  portsConflict,
  requiredNodeAffinityMatches,
  untoleratedTaint,
} from '#component-helpers/pod';
import { own } from '#utils';

/** Why a pod is refused; the pod becomes Failed with these. */
export interface Refusal {
  reason: string;
  message: string;
}

const native = new Set(['cpu', 'memory', 'ephemeral-storage']);
const isExtended = (name: string): boolean => !native.has(name) && !name.startsWith('hugepages-');
/** CPU is counted in thousandths, all else in whole units. */
const count = (name: string, amount: { milliValue(): number; value(): number }): number =>
  name === 'cpu' ? amount.milliValue() : amount.value();

const lacks = (name: string, requested: number, used: number, capacity: number): Refusal => ({
  reason: `OutOf${name}`,
  message: `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
});

const usage = new WeakMap<Pod, Map<string, number>>();

/** Requests of a pod as numbers; remembered per pod object. */
function requestsOf(pod: Pod): Map<string, number> {
  let requests = usage.get(pod);
  if (requests === undefined) {
    requests = new Map([...podRequests(pod)].map(([name, amount]) => [name, count(name, amount)]));
    usage.set(pod, requests);
  }
  return requests;
}

function resourcesFit(pod: Pod, node: Node, others: readonly Pod[]): Refusal | undefined {
  const allocatable = node.status?.allocatable ?? {};
  const pods = parseQuantity(allocatable['pods'] ?? '0').value();
  if (others.length + 1 > pods) return lacks('pods', 1, others.length, pods);
  for (const [name, requested] of requestsOf(pod)) {
    if (requested === 0) continue;
    const text = own(allocatable, name);
    if (text === undefined && isExtended(name)) continue;
    const capacity = text === undefined ? 0 : count(name, parseQuantity(text));
    const used = others.reduce((sum, other) => sum + (requestsOf(other).get(name) ?? 0), 0);
    if (requested > capacity - used) return lacks(name, requested, used, capacity);
  }
  return undefined;
}

const predicate = (name: string, why: string): Refusal => ({ reason: name, message: `Predicate ${name} failed: ${why}` });

function portsFit(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return true;
  return !others.some((other) => hostPorts(other).some((taken) => wanted.some((port) => portsConflict(port, taken))));
}

/** Why a node refuses a pod; undefined when it may run beside `others` (the node's active pods). */
export function refusalOf(pod: Pod, node: Node, others: readonly Pod[], osName = 'linux'): Refusal | undefined {
  const podOs = pod.metadata.labels?.['kubernetes.io/os'];
  if (podOs !== undefined && podOs !== osName) {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message };
  }
  if (pod.spec?.os && pod.spec.os.name !== osName)
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
  const resources = resourcesFit(pod, node, others);
  if (resources) return resources;
  if (!requiredNodeAffinityMatches(pod, node))
    return predicate('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
  if (pod.spec?.nodeName && pod.spec.nodeName !== node.metadata.name)
    return predicate('NodeName', "node(s) didn't match the requested node name");
  if (!portsFit(pod, others)) return predicate('NodePorts', "node(s) didn't have free ports for the requested pod ports");
  if (!isStaticPod(pod) && untoleratedTaint(node.spec?.taints, pod.spec?.tolerations, ['NoExecute']))
    return predicate('TaintToleration', "node(s) had taints that the pod didn't tolerate");
  return undefined;
}
