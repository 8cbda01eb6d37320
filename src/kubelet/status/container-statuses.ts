// Container statuses as the API shows them, from the runtime's containers, the last reported statuses and the reasons why starts are
// waiting (upstream kubelet_pods.go convertToAPIContainerStatuses).
import type { Container, ContainerState, ContainerStatus, Pod, VolumeMountStatus } from '#api/core/v1';
import { formatTime } from '#apimachinery/meta';
import { isRestartableInitContainer } from '#component-helpers/pod';
import { type ContainerRecord, latest, type PodRecord } from '../container/types.ts';
import { anyRegularCreated, shouldRestart } from '../pod/container-rules.ts';

/** Why a container is not started: reason is one word (CrashLoopBackOff, ErrImagePull, ...). */
export interface WaitingReason {
  reason: string;
  message: string;
}

export interface StatusInput {
  pod: Pod;
  record: PodRecord;
  reasons: ReadonlyMap<string, WaitingReason>;
  /** `containerd`, as in `containerd://id`. */
  runtimeName: string;
}

const lostMessage = 'The container could not be located when the pod was terminated';
const lostRunningMessage = 'The container could not be located when the pod was deleted.  The container used to be Running';

const volumeMounts = (container: Container): VolumeMountStatus[] | undefined =>
  container.volumeMounts?.map(({ name, mountPath, readOnly }) => ({
    name,
    mountPath,
    ...(readOnly && { readOnly, recursiveReadOnly: 'Disabled' }),
  }));

const time = (atMs: number): string | undefined => (atMs > 0 ? formatTime(atMs) : undefined);

function stateOf(found: ContainerRecord, old: ContainerStatus | undefined, runtimeName: string): ContainerState {
  if (found.state === 'running') return { running: { startedAt: time(found.startedAtMs) } };
  if (found.state === 'exited') {
    return {
      terminated: {
        exitCode: found.exitCode,
        ...(found.reason && { reason: found.reason }),
        ...(found.message && { message: found.message }),
        startedAt: time(found.startedAtMs),
        finishedAt: time(found.finishedAtMs),
        containerID: `${runtimeName}://${found.id}`,
      },
    };
  }
  if (found.state === 'unknown' && old?.state?.running)
    return { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', message: lostMessage } };
  return { waiting: {} };
}

/** The status of a container the runtime knows. */
function fromRecord(
  container: Container,
  found: ContainerRecord,
  old: ContainerStatus | undefined,
  input: StatusInput,
): ContainerStatus {
  const lost = found.state === 'unknown' && old?.state?.running !== undefined;
  const mounts = volumeMounts(container);
  const resources = container.resources ?? {};
  return {
    name: found.name,
    state: stateOf(found, old, input.runtimeName),
    lastState: {},
    ready: false,
    restartCount: lost ? old.restartCount + 1 : Math.max(found.restartCount, old?.restartCount ?? 0),
    image: found.image,
    imageID: found.imageRef,
    containerID: `${input.runtimeName}://${found.id}`,
    ...(found.state === 'running' && old?.containerID === `${input.runtimeName}://${found.id}` && { started: old.started }),
    ...(resources.requests && { allocatedResources: resources.requests }),
    resources,
    ...(mounts && { volumeMounts: mounts }),
    ...(found.user && { user: { linux: found.user } }),
  };
}

/** The status of a container the runtime does not know: waiting, or what was last said of it. */
function withoutRecord(container: Container, old: ContainerStatus | undefined, waiting: string, pod: Pod): ContainerStatus {
  if (old?.state?.terminated) return structuredClone(old);
  const mounts = volumeMounts(container);
  const status: ContainerStatus = {
    name: container.name,
    state: { waiting: { reason: waiting } },
    lastState: structuredClone(old?.lastState ?? {}),
    ready: false,
    restartCount: old?.restartCount ?? 0,
    image: container.image ?? '',
    imageID: '',
    ...(mounts && { volumeMounts: mounts }),
  };
  if (old?.state?.running && !status.lastState?.terminated) {
    status.lastState = { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', message: lostRunningMessage } };
    if (pod.metadata.deletionTimestamp === undefined) status.restartCount++;
  }
  return status;
}

/** A container that waits to be started again says why, and shows its end as the last state. */
function applyReason(status: ContainerStatus, container: Container, input: StatusInput): void {
  if (!shouldRestart(container, input.pod, input.record)) return;
  const why = input.reasons.get(container.name);
  if (why === undefined) return;
  if (status.state?.terminated) status.lastState = status.state;
  status.state = { waiting: { reason: why.reason, ...(why.message && { message: why.message }) } };
}

/** An init container that was removed after the pod got past it counts as done. */
function forgottenInit(status: ContainerStatus, container: Container, input: StatusInput): boolean {
  const found = latest(input.record, container.name);
  if (found?.state === 'exited' && found.exitCode === 0) return true;
  if (found || !status.state?.waiting || isRestartableInitContainer(container)) return false;
  if (!anyRegularCreated(input.pod, input.record)) return false;
  const message =
    'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally';
  status.state = { terminated: { exitCode: 0, reason: 'Completed', message } };
  return true;
}

/** Statuses of one of the three lists, in spec order for init containers and by name otherwise. */
export function containerStatuses(
  list: 'init' | 'regular' | 'ephemeral',
  previous: readonly ContainerStatus[] | undefined,
  input: StatusInput,
): ContainerStatus[] {
  const { spec } = input.pod;
  const containers: readonly Container[] =
    (list === 'init' ? spec?.initContainers : list === 'regular' ? spec?.containers : spec?.ephemeralContainers) ?? [];
  const waiting = spec?.initContainers?.length ? 'PodInitializing' : 'ContainerCreating';
  const statuses = containers.map((container) => {
    const old = previous?.find(({ name }) => name === container.name);
    const [newest, before] = input.record.containers.filter(({ name }) => name === container.name);
    const status = newest ? fromRecord(container, newest, old, input) : withoutRecord(container, old, waiting, input.pod);
    if (before) status.lastState = stateOf(before, old, input.runtimeName);
    else if (newest && old) status.lastState = lastStateOf(old, status);
    if (!(list === 'init' && forgottenInit(status, container, input))) applyReason(status, container, input);
    return status;
  });
  return list === 'init' ? statuses : statuses.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** The last state when the runtime no longer has the container before: what was reported of it. */
const lastStateOf = (old: ContainerStatus, status: ContainerStatus): ContainerState =>
  old.containerID !== status.containerID && old.state?.terminated ? { terminated: old.state.terminated } : (old.lastState ?? {});
