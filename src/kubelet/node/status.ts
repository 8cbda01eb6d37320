// The Node object as the kubelet reports it, computed from what it knows of the machine (upstream pkg/kubelet/nodestatus/setters.go and
// kubelet_node_status.go initialNode). Pure.
import type { ContainerImage, Node, NodeAddress, NodeCondition, NodeStatus, Taint } from '#api/core/v1';
import { formatTime } from '#apimachinery/meta';
import { parseQuantity, quantityOf } from '#apimachinery/quantity';
import { parseIP } from '#apimachinery/validation';
import { imageNamesMax, nodeStatusImagesMax } from '../limits.ts';
import type { KubeletOptions } from '../options.ts';
import type { ImageInfo } from '../container/runtime.ts';
import { isSpecific } from './node-ip.ts';

/** What the machine has, as the Node's status tells it. */
export interface Machine {
  machineId: string;
  systemUuid: string;
  bootId: string;
  kernelVersion: string;
  osImage: string;
  operatingSystem: string;
  architecture: string;
  cpuMillis: number;
  memoryBytes: number;
  ephemeralStorageBytes?: number;
  hugepages?: Record<string, number>;
}

export interface NodeFacts {
  name: string;
  hostname: string;
  machine: Machine;
  /** The addresses as configured. Where one is unspecified (`::`), `ownIPs` are used. */
  nodeIPs: readonly string[];
  ownIPs: readonly string[];
  cloudProvider: KubeletOptions['cloudProvider'];
  podsMax: number;
  kubeletPort: number;
  kubeletVersion: string;
  /** `containerd://1.6.20`. */
  runtimeVersion: string;
  images: readonly ImageInfo[];
  /** Withheld from pods, as quantities. */
  reserved: Readonly<Record<string, string>>;
  /** Why the node is not ready; empty when it is. */
  errors: readonly string[];
  pressure: { memory: boolean; disk: boolean; pid: boolean };
  /** Unique names of volumes that must not be detached. */
  volumesInUse?: readonly string[];
}

export interface Registration {
  labels: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  taints: readonly Taint[];
  providerID?: string;
  /** Nothing may be scheduled here before a cloud has made the route to the node's pods. */
  routesFromCloud?: boolean;
}

/** An event that a change of the node's status deserves. */
export type NodeEvent = { reason: string };

const providedIpAnnotation = 'alpha.kubernetes.io/provided-node-ip';

/** What the cloud wrote stays. Until then the configured address serves, so that the cloud's own programs can be reached. */
function addressesOf({ cloudProvider, nodeIPs, ownIPs, hostname }: NodeFacts, known: NodeAddress[] | undefined): NodeAddress[] {
  const named = { type: 'Hostname', address: hostname };
  if (cloudProvider === 'external') {
    if (known?.length) return known;
    if (nodeIPs.length === 0) return [named];
  }
  const found = isSpecific(nodeIPs[0]) ? nodeIPs : parseIP(hostname) ? [hostname] : ownIPs;
  return [...found.map((address) => ({ type: 'InternalIP', address })), named];
}

export function capacityOf({ machine, podsMax }: Pick<NodeFacts, 'machine' | 'podsMax'>): Record<string, string> {
  const hugepages = machine.hugepages ?? { 'hugepages-1Gi': 0, 'hugepages-2Mi': 0 };
  return {
    cpu: machine.cpuMillis % 1000 === 0 ? String(machine.cpuMillis / 1000) : `${machine.cpuMillis}m`,
    ...(machine.ephemeralStorageBytes !== undefined && {
      'ephemeral-storage': quantityOf(machine.ephemeralStorageBytes, 'BinarySI').toString(),
    }),
    ...Object.fromEntries(Object.entries(hugepages).map(([name, bytes]) => [name, quantityOf(bytes, 'BinarySI').toString()])),
    memory: quantityOf(machine.memoryBytes, 'BinarySI').toString(),
    pods: String(podsMax),
  };
}

function allocatableOf(capacity: Record<string, string>, reserved: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(capacity).map(([name, text]) => {
      const reservation = reserved[name];
      if (reservation === undefined) return [name, text];
      const left = parseQuantity(text).sub(parseQuantity(reservation));
      return [name, left.sign < 0 ? '0' : left.toString()];
    }),
  );
}

interface Verdict {
  type: string;
  status: 'True' | 'False';
  reason: string;
  message: string;
  event: string;
}

const verdict = (type: string, bad: boolean, good: [string, string, string], ill: [string, string, string]): Verdict => {
  const [reason, message, event] = bad ? ill : good;
  return { type, status: bad ? 'True' : 'False', reason, message, event };
};

function verdicts({ pressure, errors }: NodeFacts): Verdict[] {
  const ready = errors.length === 0;
  return [
    verdict(
      'MemoryPressure',
      pressure.memory,
      ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available', 'NodeHasSufficientMemory'],
      ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available', 'NodeHasInsufficientMemory'],
    ),
    verdict(
      'DiskPressure',
      pressure.disk,
      ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure', 'NodeHasNoDiskPressure'],
      ['KubeletHasDiskPressure', 'kubelet has disk pressure', 'NodeHasDiskPressure'],
    ),
    verdict(
      'PIDPressure',
      pressure.pid,
      ['KubeletHasSufficientPID', 'kubelet has sufficient PID available', 'NodeHasSufficientPID'],
      ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available', 'NodeHasInsufficientPID'],
    ),
    {
      type: 'Ready',
      status: ready ? 'True' : 'False',
      reason: ready ? 'KubeletReady' : 'KubeletNotReady',
      message: ready ? 'kubelet is posting ready status' : errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`,
      event: ready ? 'NodeReady' : 'NodeNotReady',
    },
  ];
}

/** Conditions of the kubelet among those of others; events for what changed. */
function conditionsOf(
  facts: NodeFacts,
  known: readonly NodeCondition[],
  nowMs: number,
): { conditions: NodeCondition[]; events: NodeEvent[] } {
  const now = formatTime(nowMs);
  const events: NodeEvent[] = [];
  const conditions = [...known];
  for (const { type, status, reason, message, event } of verdicts(facts)) {
    const index = conditions.findIndex((condition) => condition.type === type);
    const old = conditions[index];
    const same = old?.status === status;
    if (!same && (type !== 'Ready' || old !== undefined)) events.push({ reason: event });
    const next: NodeCondition = {
      type,
      status,
      lastHeartbeatTime: now,
      lastTransitionTime: same ? old.lastTransitionTime : now,
      reason: same && type !== 'Ready' ? old.reason : reason,
      message: same && type !== 'Ready' ? old.message : message,
    };
    if (index < 0) conditions.push(next);
    else conditions[index] = next;
  }
  return { conditions, events };
}

const imagesOf = (images: readonly ImageInfo[]): ContainerImage[] =>
  [...images]
    .sort((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, nodeStatusImagesMax)
    .map(({ repoDigests, repoTags, sizeBytes }) => ({ names: [...repoDigests, ...repoTags].slice(0, imageNamesMax), sizeBytes }));

/** The node with the status of now. Addresses and conditions of others are kept. */
export function withStatus(node: Node, facts: NodeFacts, nowMs: number): { node: Node; events: NodeEvent[] } {
  const { machine } = facts;
  const old = node.status ?? {};
  const capacity = { ...old.capacity, ...capacityOf(facts) };
  const { conditions, events } = conditionsOf(facts, old.conditions ?? [], nowMs);
  const bootId = old.nodeInfo?.bootID ?? '';
  if (bootId !== '' && bootId !== machine.bootId) events.push({ reason: 'Rebooted' });
  const status: NodeStatus = {
    ...old,
    capacity,
    allocatable: allocatableOf(capacity, facts.reserved),
    conditions,
    addresses: addressesOf(facts, old.addresses),
    daemonEndpoints: { kubeletEndpoint: { Port: facts.kubeletPort } },
    nodeInfo: {
      machineID: machine.machineId,
      systemUUID: machine.systemUuid,
      bootID: machine.bootId,
      kernelVersion: machine.kernelVersion,
      osImage: machine.osImage,
      containerRuntimeVersion: facts.runtimeVersion,
      kubeletVersion: facts.kubeletVersion,
      kubeProxyVersion: '',
      operatingSystem: machine.operatingSystem,
      architecture: machine.architecture,
    },
    volumesInUse: facts.volumesInUse?.length ? [...facts.volumesInUse].sort() : undefined,
    ...(facts.images.length > 0 ? { images: imagesOf(facts.images) } : { images: undefined }),
  };
  return { node: { ...node, metadata: withProvidedIp(node.metadata, facts), status }, events };
}

/** Writes the node's own idea of its address into an annotation, where an external cloud provider's controller looks for it. */
function withProvidedIp(metadata: Node['metadata'], { cloudProvider, nodeIPs }: NodeFacts): Node['metadata'] {
  const { [providedIpAnnotation]: provided, ...others } = metadata.annotations ?? {};
  const wanted = cloudProvider === 'external' && isSpecific(nodeIPs[0]) ? nodeIPs.join(',') : undefined;
  if (provided === wanted) return metadata;
  return { ...metadata, annotations: wanted === undefined ? others : { ...others, [providedIpAnnotation]: wanted } };
}

/** The labels that every node has from its kubelet. */
export const defaultLabels = (facts: Pick<NodeFacts, 'hostname' | 'machine'>): Record<string, string> => ({
  'beta.kubernetes.io/arch': facts.machine.architecture,
  'beta.kubernetes.io/os': facts.machine.operatingSystem,
  'kubernetes.io/arch': facts.machine.architecture,
  'kubernetes.io/hostname': facts.hostname,
  'kubernetes.io/os': facts.machine.operatingSystem,
});

/** The Node that a kubelet registers, and the events of its first conditions. */
export function initialNode(facts: NodeFacts, registration: Registration, nowMs: number): { node: Node; events: NodeEvent[] } {
  const uninitialized = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
  const taints = [...registration.taints, ...(facts.cloudProvider === 'external' ? [uninitialized] : [])];
  const node: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: facts.name,
      labels: { ...defaultLabels(facts), ...registration.labels },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true', ...registration.annotations },
    },
    spec: {
      ...(taints.length > 0 && { taints }),
      ...(registration.providerID && { providerID: registration.providerID }),
    },
  };
  const unrouted = {
    type: 'NetworkUnavailable',
    status: 'True',
    reason: 'NoRouteCreated',
    message: 'Node created without a route',
    lastTransitionTime: formatTime(nowMs),
  };
  return withStatus(registration.routesFromCloud ? { ...node, status: { conditions: [unrouted] } } : node, facts, nowMs);
}

const withoutHeartbeat = (condition: NodeCondition): NodeCondition => ({ ...condition, lastHeartbeatTime: undefined });

/** Whether more than heartbeats differ (upstream nodeStatusHasChanged). */
export function comparable(status: NodeStatus | undefined): NodeStatus {
  return { ...status, conditions: status?.conditions?.map(withoutHeartbeat) };
}
