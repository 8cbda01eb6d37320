// The phase of a pod from its containers' statuses (upstream kubelet_pods.go getPhase).
import type { Container, ContainerStatus, Pod, PodSpec } from '#api/core/v1';
import { containerShouldRestart, isRestartableInitContainer, isStaticPod } from '#component-helpers/pod';

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

interface Tally {
  pendingInit: number;
  pendingSidecars: number;
  failedInit: number;
  unknown: number;
  running: number;
  waiting: number;
  stopped: number;
  stoppedForGood: number;
  succeeded: number;
}

const find = (statuses: readonly ContainerStatus[], name: string): ContainerStatus | undefined =>
  statuses.find((status) => status.name === name);

function tallyInit(tally: Tally, container: Container, spec: PodSpec, status: ContainerStatus | undefined): void {
  const ended = status?.state?.terminated ?? (status?.state?.waiting && status.lastState?.terminated);
  if (ended === undefined) tally.pendingInit++;
  else if (ended.exitCode !== 0 && !containerShouldRestart(container, spec, ended.exitCode)) tally.failedInit++;
}

function tallySidecar(tally: Tally, status: ContainerStatus | undefined): void {
  if (status === undefined) tally.unknown++;
  else if (status.state?.running) {
    if (!status.started) tally.pendingSidecars++;
    tally.running++;
  } else if (status.state?.waiting) {
    if (status.lastState?.terminated) return;
    tally.pendingSidecars++;
    tally.waiting++;
  } else if (!status.state?.terminated) {
    tally.pendingSidecars++;
    tally.unknown++;
  }
}

function tallyRegular(tally: Tally, container: Container, spec: PodSpec, status: ContainerStatus | undefined): void {
  const { running, terminated, waiting } = status?.state ?? {};
  if (running) tally.running++;
  else if (terminated) {
    tally.stopped++;
    if (!containerShouldRestart(container, spec, terminated.exitCode)) tally.stoppedForGood++;
    if (terminated.exitCode === 0) tally.succeeded++;
  } else if (waiting && status?.lastState?.terminated) {
    tally.stopped++;
    if (!containerShouldRestart(container, spec, status.lastState.terminated.exitCode)) tally.stoppedForGood++;
  } else if (waiting) tally.waiting++;
  else tally.unknown++;
}

/** `terminal`: the kubelet has stopped everything. `hasInitialized`: a regular container has been started and still is there. */
export function podPhase(pod: Pod, statuses: readonly ContainerStatus[], terminal: boolean, hasInitialized: boolean): Phase {
  const spec = pod.spec ?? { containers: [] };
  const tally: Tally = {
    pendingInit: 0,
    pendingSidecars: 0,
    failedInit: 0,
    unknown: 0,
    running: 0,
    waiting: 0,
    stopped: 0,
    stoppedForGood: 0,
    succeeded: 0,
  };
  for (const container of spec.initContainers ?? []) {
    const status = find(statuses, container.name);
    if (isRestartableInitContainer(container)) tallySidecar(tally, status);
    else tallyInit(tally, container, spec, status);
  }
  for (const container of spec.containers) tallyRegular(tally, container, spec, find(statuses, container.name));

  if (tally.failedInit > 0) return 'Failed';
  if (tally.pendingInit > 0 || (tally.pendingSidecars > 0 && !hasInitialized) || tally.waiting > 0) return 'Pending';
  if (tally.unknown > 0) return 'Pending';
  if (tally.running > 0) return 'Running';
  if (tally.stopped === 0) return 'Pending';
  const done = (terminal && !isStaticPod(pod)) || tally.stopped === tally.stoppedForGood;
  if (!done) return 'Running';
  return tally.stopped === tally.succeeded ? 'Succeeded' : 'Failed';
}
