// From the runtime's lists to what the pure core reads (upstream kuberuntime_manager.go GetPodStatus, kuberuntime_container.go
// convertToKubeContainerStatus).
import type { ContainerState, ContainerStatus, PodSandboxStatus } from '#cri';
import {
  type ContainerRecord,
  type ContainerRunState,
  emptyRecord,
  type PodRecord,
  type SandboxRecord,
} from '../../container/types.ts';
import {
  containerTerminationLogBytesMax,
  containerTerminationLogLinesMax,
  containerTerminationMessageBytesMax,
} from '../../limits.ts';
import { lastBytes, lastLogText } from '../../logs/tail.ts';
import {
  containerNameLabel,
  hashAnnotation,
  imageAnnotation,
  messagePathAnnotation,
  messagePolicyAnnotation,
  podNameLabel,
  podNamespaceLabel,
  podUidLabel,
  restartCountAnnotation,
} from './labels.ts';

const states: Record<ContainerState, ContainerRunState> = {
  CONTAINER_CREATED: 'created',
  CONTAINER_RUNNING: 'running',
  CONTAINER_EXITED: 'exited',
  CONTAINER_UNKNOWN: 'unknown',
};

/** Nanoseconds as text to milliseconds. */
export const toMs = (nanoseconds: string | number | undefined): number => Number(BigInt(nanoseconds ?? 0) / 1_000_000n);

/** What a container left behind: its termination message file, or the end of its log. */
export async function terminationMessage(status: ContainerStatus): Promise<string> {
  const path = status.annotations[messagePathAnnotation] ?? '';
  const mount = path === '' ? undefined : status.mounts.find(({ containerPath }) => containerPath === path);
  const message = mount && (await lastBytes(mount.hostPath, containerTerminationMessageBytesMax));
  if (message && message.length > 0) return message.toString('utf8');
  const fallback = status.annotations[messagePolicyAnnotation] === 'FallbackToLogsOnError' && status.exitCode !== 0;
  return fallback ? lastLogText(status.logPath, containerTerminationLogLinesMax, containerTerminationLogBytesMax) : '';
}

export async function containerRecord(status: ContainerStatus): Promise<ContainerRecord> {
  const { annotations, labels, user } = status;
  const exited = status.state === 'CONTAINER_EXITED';
  const left = exited ? await terminationMessage(status) : '';
  const message = exited ? [status.message, left].filter((text) => text !== '').join(': ') : '';
  return {
    id: status.id,
    name: labels[containerNameLabel] ?? status.metadata.name,
    image: annotations[imageAnnotation] || (status.image?.image ?? ''),
    imageRef: status.imageRef,
    hash: annotations[hashAnnotation] ?? '',
    restartCount: Number(annotations[restartCountAnnotation] ?? 0),
    state: states[status.state] ?? 'unknown',
    createdAtMs: toMs(status.createdAt),
    startedAtMs: status.state === 'CONTAINER_CREATED' ? 0 : toMs(status.startedAt),
    finishedAtMs: exited ? toMs(status.finishedAt) : 0,
    exitCode: exited ? status.exitCode : 0,
    reason: exited ? status.reason : '',
    message,
    ...(user?.linux && {
      user: {
        uid: Number(user.linux.uid),
        gid: Number(user.linux.gid),
        supplementalGroups: user.linux.supplementalGroups.map(Number),
      },
    }),
  };
}

export const sandboxRecord = (status: PodSandboxStatus): SandboxRecord => ({
  id: status.id,
  ready: status.state === 'SANDBOX_READY',
  attempt: status.metadata.attempt,
  createdAtMs: toMs(status.createdAt),
  hostNetwork: status.linux?.namespaces?.options?.network === 'NODE',
  ips: status.network?.ip ? [status.network.ip, ...status.network.additionalIps.map(({ ip }) => ip)] : [],
});

/** Pod identity from labels; undefined for what is none of the kubelet's. */
export const identityOf = (labels: Record<string, string>): { uid: string; namespace: string; name: string } | undefined => {
  const { [podUidLabel]: uid, [podNamespaceLabel]: namespace, [podNameLabel]: name } = labels;
  return uid === undefined ? undefined : { uid, namespace: namespace ?? '', name: name ?? '' };
};

export const byNewest = <T extends { createdAtMs: number }>(items: T[]): T[] =>
  items.sort((a, b) => b.createdAtMs - a.createdAtMs);

export const recordOf = (
  { uid, namespace, name }: { uid: string; namespace: string; name: string },
  sandboxes: SandboxRecord[],
  containers: ContainerRecord[],
): PodRecord => ({ ...emptyRecord(uid, namespace, name), sandboxes: byNewest(sandboxes), containers: byNewest(containers) });
