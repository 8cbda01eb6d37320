// The whole status of a pod, computed (upstream kubelet_pods.go generateAPIPodStatus).
import type { ContainerStatus, Pod, PodCondition, PodStatus } from '#api/core/v1';
import {
  type Amounts,
  computeQos,
  isHostNetworkPod,
  isRestartableInitContainer,
  isTerminalPhase,
  podLimits,
  podRequests,
} from '#component-helpers/pod';
import { latest, recordIPs } from '../container/types.ts';
import type { ProbeResults } from '../pod/probe-results.ts';
import { kubeletConditions, ownConditions } from './conditions.ts';
import { containerStatuses, type StatusInput } from './container-statuses.ts';
import { type Phase, podPhase } from './phase.ts';

export interface Eviction {
  reason: string;
  message: string;
}

export interface PodStatusInput extends StatusInput {
  /** What was last reported; the API's status when nothing was. */
  old: PodStatus;
  probes: ProbeResults;
  /** Everything has been stopped for good. */
  terminal: boolean;
  /** The node's addresses, primary first. */
  hostIPs: readonly string[];
  /** The pod is to end: evicted, or past its deadline. */
  eviction?: Eviction;
  /** DisruptionTarget and the like, set by the kubelet when it evicts. */
  extraConditions?: readonly PodCondition[];
  /** The pod's addresses for when its sandbox no longer reports them. */
  lastIPs?: readonly string[];
}

/** Fills `started` and `ready` (upstream prober_manager.go UpdatePodStatus). */
function applyProbes(input: PodStatusInput, statuses: ContainerStatus[], init: boolean): void {
  const containers = (init ? input.pod.spec?.initContainers : input.pod.spec?.containers) ?? [];
  for (const status of statuses) {
    const container = containers.find(({ name }) => name === status.name);
    if (container === undefined) continue;
    const running = status.state?.running !== undefined;
    const id = latest(input.record, status.name)?.id ?? '';
    const startup = input.probes.get(id, 'startup');
    const hasStarted =
      startup === undefined ? container.startupProbe === undefined || status.started === true : startup === 'success';
    status.started = running && hasStarted;
    if (init && !isRestartableInitContainer(container)) {
      status.ready = status.state?.terminated?.exitCode === 0;
      continue;
    }
    if (!status.started) continue;
    // Simulated containers say it without a probe, too.
    const readiness = input.probes.get(id, 'readiness');
    status.ready = readiness === undefined ? container.readinessProbe === undefined : readiness === 'success';
  }
}

function phaseOf(input: PodStatusInput, statuses: ContainerStatus[]): Phase {
  const { pod, old, terminal, record } = input;
  const hasInitialized = (pod.spec?.containers ?? []).some(({ name }) => {
    const state = latest(record, name)?.state;
    return state === 'running' || state === 'created';
  });
  const phase = podPhase(pod, statuses, terminal, hasInitialized);
  if (isTerminalPhase(phase)) return phase;
  if (isTerminalPhase(old.phase)) return old.phase as Phase;
  if (isTerminalPhase(pod.status?.phase)) return pod.status?.phase as Phase;
  return phase;
}

function addresses(input: PodStatusInput): Pick<PodStatus, 'podIP' | 'podIPs' | 'hostIP' | 'hostIPs'> {
  const known = recordIPs(input.record);
  const ips = known.length > 0 ? known : (input.lastIPs ?? []);
  const { hostIPs } = input;
  const own = ips.length === 0 && isHostNetworkPod(input.pod) && hostIPs.length > 0 ? [...hostIPs] : ips;
  const list = (values: readonly string[]): { ip: string }[] => values.map((ip) => ({ ip }));
  return {
    ...(hostIPs.length > 0 && { hostIP: hostIPs[0], hostIPs: list(hostIPs) }),
    ...(own.length > 0 && { podIP: own[0], podIPs: list(own) }),
  };
}

const texts = (amounts: Amounts): Record<string, string> | undefined =>
  amounts.size === 0 ? undefined : Object.fromEntries([...amounts].map(([name, amount]) => [name, amount.toString()]));

/** Resources of the pod as a whole (KEP-5419). */
function podResources(pod: Pod): Pick<PodStatus, 'allocatedResources' | 'resources'> {
  const [requests, limits] = [texts(podRequests(pod)), texts(podLimits(pod))];
  return {
    ...(requests && { allocatedResources: requests }),
    resources: { ...(limits && { limits }), ...(requests && { requests }) },
  };
}

/** The status to report, without transition times (see `settleStatus`). */
export function podStatus(input: PodStatusInput): PodStatus {
  const { pod, old, record, eviction } = input;
  const regular = containerStatuses('regular', old.containerStatuses, input);
  const init = containerStatuses('init', old.initContainerStatuses, input);
  const ephemeral = containerStatuses('ephemeral', old.ephemeralContainerStatuses, input);
  applyProbes(input, regular, false);
  applyProbes(input, init, true);
  const statuses = [...init, ...regular];
  let phase = phaseOf(input, statuses);
  const why: Eviction = { reason: '', message: '' };
  if (phase === old.phase) {
    why.reason = old.reason || pod.status?.reason || '';
    why.message = old.message || pod.status?.message || '';
  }
  if (eviction) {
    phase = 'Failed';
    Object.assign(why, eviction);
  }
  if (isTerminalPhase(pod.status?.phase)) phase = pod.status?.phase as Phase;
  const foreign = (pod.status?.conditions ?? []).filter(({ type }) => !kubeletConditions.includes(type));
  const extra = input.extraConditions ?? [];
  const kept = foreign.filter(({ type }) => !extra.some((condition) => condition.type === type));
  return {
    ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
    phase,
    ...(why.reason && { reason: why.reason }),
    ...(why.message && { message: why.message }),
    conditions: [...kept, ...extra, ...ownConditions({ pod, record, statuses, phase, foreign: kept })],
    ...addresses(input),
    ...podResources(pod),
    qosClass: pod.status?.qosClass ?? computeQos(pod),
    ...(init.length > 0 && { initContainerStatuses: init }),
    containerStatuses: regular,
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral }),
    ...(old.startTime && { startTime: old.startTime }),
  };
}
