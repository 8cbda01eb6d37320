// Single questions about a pod's sandbox and containers, asked by the state machine and by its status (upstream container/helpers.go,
// kuberuntime/util). Pure.
import type { Container, Pod } from '#api/core/v1';
import { containerShouldRestart, isHostNetworkPod } from '#component-helpers/pod';
import { hashContainer } from '../container/hash.ts';
import { type ContainerRecord, latest, type PodRecord } from '../container/types.ts';
import type { KillContainer, KillReason } from './plan.ts';
import type { ProbeResults } from './probe-results.ts';

/** Back-off is per container definition: a changed image starts afresh. */
export const backOffKey = (container: Container): string => `${container.name}_${hashContainer(container)}`;

/** Whether the pod needs a new sandbox (upstream util.PodSandboxChanged). */
export function sandboxChanged(pod: Pod, record: PodRecord): { changed: boolean; attempt: number; id: string } {
  const newest = record.sandboxes[0];
  if (newest === undefined) return { changed: true, attempt: 0, id: '' };
  const again = { changed: true, attempt: newest.attempt + 1, id: newest.id };
  if (!newest.ready || record.sandboxes.filter(({ ready }) => ready).length > 1) return again;
  if (newest.hostNetwork !== isHostNetworkPod(pod)) return { ...again, id: '' };
  if (!newest.hostNetwork && newest.ips.length === 0) return again;
  return { changed: false, attempt: newest.attempt, id: newest.id };
}

/** Whether a container that does not run is to be started (upstream ShouldContainerBeRestarted). */
export function shouldRestart(container: Container, pod: Pod, record: PodRecord): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  const status = latest(record, container.name);
  if (status === undefined) return true;
  if (status.state === 'running') return false;
  if (status.state !== 'exited') return true;
  return pod.spec === undefined || containerShouldRestart(container, pod.spec, status.exitCode);
}

export const anyRegularCreated = (pod: Pod, record: PodRecord): boolean =>
  (pod.spec?.containers ?? []).some(({ name }) => {
    const state = latest(record, name)?.state;
    return state !== undefined && state !== 'unknown';
  });

/** Why a running container has to go, if it has to. */
export function killMessage(
  container: Container,
  status: ContainerRecord,
  probes: ProbeResults,
  label: string,
): KillContainer | undefined {
  const kill = (why: string, reason: KillReason): KillContainer => ({
    id: status.id,
    name: status.name,
    message: `${label} ${container.name} ${why}`,
    reason,
  });
  if (status.hash !== hashContainer(container)) return kill('definition changed', '');
  if (probes.get(status.id, 'liveness') === 'failure') return kill('failed liveness probe', 'LivenessProbe');
  if (probes.get(status.id, 'startup') === 'failure') return kill('failed startup probe', 'StartupProbe');
  return undefined;
}

export const killUnknown = (status: ContainerRecord, label: string): KillContainer => ({
  id: status.id,
  name: status.name,
  message: `${label} is in "${status.state}" state, try killing it before restart`,
  reason: 'Unknown',
});
