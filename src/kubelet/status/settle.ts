// From a computed status to the one that is reported: transition times, start time, bounded messages, and the final word on containers of
// a pod that has ended (upstream status_manager.go updateStatusInternal, TerminatePod, mergePodStatus).
import type { ContainerStatus, Pod, PodCondition, PodStatus } from '#api/core/v1';
import { formatTime } from '#apimachinery/meta';
import { findCondition, isRestartableInitContainer, isStaticPod, isTerminalPhase } from '#component-helpers/pod';
import { podTerminationMessageBytesMax } from '../limits.ts';
import { kubeletConditions } from './conditions.ts';

/** A condition keeps its transition time while its status stays. */
const withTransition = (condition: PodCondition, old: PodStatus, now: string): PodCondition => {
  const before = findCondition(old.conditions, condition.type);
  const lastTransitionTime = before?.status === condition.status ? (before.lastTransitionTime ?? now) : now;
  return condition.lastTransitionTime && !kubeletConditions.includes(condition.type)
    ? condition
    : { ...condition, lastTransitionTime };
};

/** Cuts to `bytesMax` bytes of UTF-8. */
export function cutBytes(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  const bytes = new TextEncoder().encode(text);
  return bytes.length <= bytesMax ? text : new TextDecoder().decode(bytes.subarray(0, bytesMax)).replace(/\ufffd+$/, '');
}

function boundMessages(statuses: ContainerStatus[] | undefined, bytesMax: number): void {
  for (const status of statuses ?? []) {
    for (const state of [status.state, status.lastState]) {
      if (state?.terminated?.message) state.terminated.message = cutBytes(state.terminated.message, bytesMax);
    }
  }
}

/** Completes `status` in place and returns it. */
export function settleStatus(pod: Pod, old: PodStatus, status: PodStatus, nowMs: number): PodStatus {
  const now = formatTime(nowMs);
  status.conditions = status.conditions?.map((condition) => withTransition(condition, old, now));
  status.startTime = old.startTime ?? status.startTime ?? now;
  if ((old.observedGeneration ?? 0) > (status.observedGeneration ?? 0)) status.observedGeneration = old.observedGeneration;
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const count = containers.length + initContainers.length + ephemeralContainers.length;
  const bytesMax = Math.floor(podTerminationMessageBytesMax / Math.max(1, count));
  for (const list of [status.containerStatuses, status.initContainerStatuses, status.ephemeralContainerStatuses])
    boundMessages(list, bytesMax);
  return status;
}

const lost = {
  terminated: {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
  },
};

function hasInitialized(pod: Pod, status: PodStatus): boolean {
  const init = pod.spec?.initContainers ?? [];
  if (init.length === 0) return true;
  if (status.containerStatuses?.some(({ state, lastState }) => lastState?.terminated || !state?.waiting)) return true;
  const last = status.initContainerStatuses?.at(-1);
  const container = init.find(({ name }) => name === last?.name);
  if (last === undefined || container === undefined) return false;
  if (isRestartableInitContainer(container)) return last.state?.running !== undefined && last.started === true;
  return last.lastState?.terminated?.exitCode === 0 || last.state?.terminated?.exitCode === 0;
}

/** The status of a pod whose every trace on the node is gone: no container is left without an end, the phase is final. */
export function finalStatus(pod: Pod, current: PodStatus): PodStatus {
  const status = structuredClone(current);
  if (hasInitialized(pod, current))
    for (const container of status.containerStatuses ?? []) if (!container.state?.terminated) container.state = lost;
  const init = status.initContainerStatuses ?? [];
  let begun = init.length;
  while (begun > 1 && init[begun - 1]?.state?.waiting && !init[begun - 1]?.lastState?.terminated) begun--;
  for (const container of init.slice(0, begun)) if (!container.state?.terminated) container.state = lost;
  if (!isStaticPod(pod) && !isTerminalPhase(status.phase)) status.phase = 'Failed';
  return status;
}

/**
 * What is written to the API: conditions of others are the API's, and a terminal phase waits until no container can be running.
 */
export function mergeStatus(pod: Pod, status: PodStatus, couldBeRunning: boolean): PodStatus {
  const api = pod.status ?? {};
  const turningTerminal = !isTerminalPhase(api.phase) && isTerminalPhase(status.phase);
  const foreign = (api.conditions ?? []).filter(({ type }) => !kubeletConditions.includes(type));
  const own = (status.conditions ?? []).filter(({ type }) => kubeletConditions.includes(type));
  const shared = turningTerminal && !couldBeRunning ? findCondition(status.conditions, 'DisruptionTarget') : undefined;
  const kept = shared ? foreign.filter(({ type }) => type !== shared.type) : foreign;
  const merged: PodStatus = { ...status, conditions: [...kept, ...(shared ? [shared] : []), ...own] };
  for (const name of ['resourceClaimStatuses', 'extendedResourceClaimStatus', 'nodeAllocatableResourceClaimStatuses'] as const) {
    if (api[name] === undefined) delete merged[name];
    else Object.assign(merged, { [name]: api[name] });
  }
  if (turningTerminal && couldBeRunning) {
    merged.phase = api.phase;
    merged.reason = api.reason;
    merged.message = api.message;
  }
  return merged;
}
