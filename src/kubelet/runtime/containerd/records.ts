// From the runtime's lists to what the pure core reads (upstream kuberuntime_manager.go GetPodStatus, kuberuntime_container.go
// convertToKubeContainerStatus).
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ContainerState, ContainerStatus, PodSandboxStatus } from '#cri';
import { Descriptor, holding } from '#host';
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
import type { LoggingContainer } from '../../logs/links.ts';
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

/** Milliseconds of a time that the runtime gives in nanoseconds, as text. */
export const toMs = (nanoseconds: string | number | undefined): number => Number(BigInt(nanoseconds ?? 0) / 1_000_000n);

/** The container's directory of files for termination messages; only the files are mounted into it. */
export const messageDirectory = (podDir: string, container: string): string => join(podDir, 'containers', container);

/**
 * What a container left behind: its termination message file, or the end of its log. Only a file of the kubelet's own is read: a pod may mount a
 * volume of its own at that path, and a link in it.
 */
export async function terminationMessage(status: ContainerStatus, podDir: string): Promise<string> {
  const path = status.annotations[messagePathAnnotation] ?? '';
  const directory = messageDirectory(podDir, status.labels[containerNameLabel] ?? status.metadata.name);
  const mount =
    path === ''
      ? undefined
      : status.mounts.find(({ containerPath, hostPath }) => containerPath === path && dirname(hostPath) === directory);
  const open = (file: string): Promise<FileHandle> =>
    holding(Descriptor.at(directory), (own) => holding(own.child(basename(file)), (held) => held.openForReading()));
  try {
    const message = mount && (await lastBytes(() => open(mount.hostPath), containerTerminationMessageBytesMax));
    if (message && message.length > 0) return message.toString('utf8');
  } catch (error) {
    return `Error on reading termination log ${mount?.hostPath}: ${(error as Error).message}`;
  }
  const fallback = status.annotations[messagePolicyAnnotation] === 'FallbackToLogsOnError' && status.exitCode !== 0;
  if (!fallback) return '';
  return lastLogText(status.logPath, containerTerminationLogLinesMax, containerTerminationLogBytesMax).catch(
    (error: Error) => `Error on reading termination message from logs: ${error.message}`,
  );
}

/** The kubelet's record of a container. `podDir` is the kubelet's directory of its pod. */
export async function containerRecord(status: ContainerStatus, podDir: string): Promise<ContainerRecord> {
  const { annotations, labels, user } = status;
  const exited = status.state === 'CONTAINER_EXITED';
  const left = exited ? await terminationMessage(status, podDir) : '';
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

/** The pod that labels name; undefined for a container that the kubelet has not made. */
export const identityOf = (labels: Record<string, string>): { uid: string; namespace: string; name: string } | undefined => {
  const { [podUidLabel]: uid, [podNamespaceLabel]: namespace, [podNameLabel]: name } = labels;
  return uid === undefined ? undefined : { uid, namespace: namespace ?? '', name: name ?? '' };
};

/** The container as the link to its log names it; undefined when it belongs to no pod. */
export function loggingContainer(id: string, labels: Record<string, string>): LoggingContainer | undefined {
  const pod = identityOf(labels);
  return pod && { id, name: labels[containerNameLabel] ?? '', podName: pod.name, namespace: pod.namespace };
}

const byNewest = <T extends { createdAtMs: number }>(items: T[]): T[] => items.sort((a, b) => b.createdAtMs - a.createdAtMs);

/** The last attempt comes first, whatever time of creation a runtime gives to a sandbox that never ran. */
const byAttempt = (sandboxes: SandboxRecord[]): SandboxRecord[] =>
  sandboxes.sort((a, b) => b.attempt - a.attempt || b.createdAtMs - a.createdAtMs);

export const recordOf = (
  { uid, namespace, name }: { uid: string; namespace: string; name: string },
  sandboxes: SandboxRecord[],
  containers: ContainerRecord[],
): PodRecord => ({ ...emptyRecord(uid, namespace, name), sandboxes: byAttempt(sandboxes), containers: byNewest(containers) });
