// What of a running pod's dead containers and sandboxes may go: one dead container per name is kept for its last state and logs (upstream
// kuberuntime_gc.go with MaxPerPodContainerCount 1).
import type { PodRecord } from '../container/types.ts';

export function prunable(record: PodRecord): { containers: string[]; sandboxes: string[] } {
  const dead = new Map<string, number>();
  const containers: string[] = [];
  for (const { id, name, state } of record.containers) {
    if (state !== 'exited' && state !== 'unknown') continue;
    const count = (dead.get(name) ?? 0) + 1;
    dead.set(name, count);
    if (count > 1) containers.push(id);
  }
  const sandboxes = record.sandboxes.slice(1).filter(({ ready }) => !ready);
  return { containers, sandboxes: sandboxes.map(({ id }) => id) };
}
