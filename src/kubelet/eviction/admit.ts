// Which pods a node under pressure still takes (upstream eviction_manager.go Admit). Pure.
import type { Pod } from '#api/core/v1';
import { isCriticalPod, podQos, tolerates } from '#component-helpers/pod';
import type { Pressure } from '../node/state.ts';

const memoryTaint = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' };

/** Why the pod is refused; undefined when it may come. */
export function pressureRefusal(pod: Pod, { memory, disk, pid }: Pressure): { reason: string; message: string } | undefined {
  if (!(memory || disk || pid) || isCriticalPod(pod)) return undefined;
  const onlyMemory = memory && !disk && !pid;
  if (onlyMemory && podQos(pod) !== 'BestEffort') return undefined;
  if (onlyMemory && (pod.spec?.tolerations ?? []).some((toleration) => tolerates(toleration, memoryTaint))) return undefined;
  const conditions = [...(memory ? ['MemoryPressure'] : []), ...(disk ? ['DiskPressure'] : []), ...(pid ? ['PIDPressure'] : [])];
  return { reason: 'Evicted', message: `The node had condition: [${conditions.join(' ')}]. ` };
}
