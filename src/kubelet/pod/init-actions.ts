// The init part of the pod state machine: plain init containers one after the other, sidecars started in turn and kept running
// (upstream kuberuntime_container.go computeInitContainerActions, KEP-753).
import type { Container, Pod } from '#api/core/v1';
import { isRestartableInitContainer } from '#component-helpers/pod';
import { hashContainer } from '../container/hash.ts';
import { type ContainerRecord, latest, type PodRecord } from '../container/types.ts';
import { killMessage, killUnknown, shouldRestart } from './container-rules.ts';
import type { ActionContext, PodActions, Starter } from './plan.ts';

interface Scan {
  pod: Pod;
  record: PodRecord;
  context: ActionContext;
  actions: PodActions;
  containers: readonly Container[];
  /** Indexes to start, found from the last container to the first. */
  start: number[];
  /** Regular containers may start. */
  initialized: boolean;
  /** A later init container, or a regular one, has been seen: earlier plain ones are done. */
  previously: boolean;
  failed: boolean;
}

const initFailed = (status: ContainerRecord): boolean =>
  status.reason === 'OOMKilled' || (status.state === 'exited' && status.exitCode !== 0) || status.state === 'unknown';

/** The container at `index` is done (or serves): the next may start, or initialization is over. */
function passed(scan: Scan, index: number): void {
  if (index === scan.containers.length - 1) scan.initialized = true;
  else if (!scan.previously) scan.start.push(index + 1);
}

function scanRunningSidecar(scan: Scan, index: number, container: Container, status: ContainerRecord): void {
  const { probes } = scan.context;
  const restart = (): void => {
    const kill = killMessage(container, status, probes, 'Init container');
    if (kill === undefined) return;
    scan.actions.kill.push(kill);
    scan.start.push(index);
  };
  if (container.startupProbe !== undefined) {
    const startup = probes.get(status.id, 'startup');
    if (startup === 'failure' && status.hash === hashContainer(container)) restart();
    if (startup !== 'success') return;
  }
  passed(scan, index);
  restart();
}

/** A plain init container that did not end well; true when the whole pod fails with it. */
function scanFailed(scan: Scan, index: number, container: Container, status: ContainerRecord): void {
  if (
    !shouldRestart(container, scan.pod, scan.record) ||
    (status.state === 'unknown' && scan.pod.spec?.restartPolicy === 'Never')
  ) {
    scan.failed = true;
    return;
  }
  if (status.state === 'unknown') scan.actions.kill.push(killUnknown(status, 'Init container'));
  scan.start.push(index);
}

function scanOne(scan: Scan, index: number, container: Container, status: ContainerRecord): void {
  const sidecar = isRestartableInitContainer(container);
  switch (status.state) {
    case 'created':
      scan.start.push(index);
      return;
    case 'running':
      if (sidecar) scanRunningSidecar(scan, index, container, status);
      return;
    case 'exited':
      if (sidecar) scan.start.push(index);
      else if (initFailed(status)) scanFailed(scan, index, container, status);
      else passed(scan, index);
      return;
    case 'unknown':
      if (!sidecar) return scanFailed(scan, index, container, status);
      scan.actions.kill.push(killUnknown(status, 'Init container'));
      scan.start.push(index);
  }
}

/** Adds what init containers need to `actions`; answers whether regular containers may run. */
export function initActions(pod: Pod, record: PodRecord, context: ActionContext, actions: PodActions, start: Starter): boolean {
  const containers = pod.spec?.initContainers ?? [];
  if (containers.length === 0) return true;
  const serving = (pod.spec?.containers ?? []).some(({ name }) => {
    const state = latest(record, name)?.state;
    return state === 'created' || state === 'running';
  });
  const scan: Scan = {
    pod,
    record,
    context,
    actions,
    containers,
    start: [],
    initialized: serving,
    previously: serving,
    failed: false,
  };
  for (let index = containers.length - 1; index >= 0; index--) {
    const container = containers[index] as Container;
    const status = latest(record, container.name);
    const sidecar = isRestartableInitContainer(container);
    if (status === undefined) {
      if (scan.previously && sidecar) scan.start.push(index);
      continue;
    }
    if (scan.previously && !sidecar) continue;
    scanOne(scan, index, container, status);
    if (scan.failed) {
      actions.killPod = true;
      return false;
    }
    scan.previously = true;
  }
  if (!scan.previously) scan.start.push(0);
  for (const index of scan.start.reverse()) start('init', containers[index] as Container);
  return scan.initialized;
}
