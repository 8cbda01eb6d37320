// From requests and limits to cgroup settings and oom scores (upstream pkg/kubelet/cm helpers_linux.go, pkg/kubelet/qos/policy.go).
import type { Container, Pod } from '#api/core/v1';
import { parseQuantity, type Quantity } from '#apimachinery/quantity';
import { isRestartableInitContainer, podQos } from '#component-helpers/pod';
import type { LinuxContainerResources } from '#cri';
import { cpuPeriodUs, milliCpuToQuota, milliCpuToShares } from '../../cgroups/cpu.ts';

const nodeCriticalPriority = 2_000_001_000;
const guaranteedScore = -997;
const bestEffortScore = 1000;

const read = (list: Record<string, string> | undefined, name: string): Quantity | undefined => {
  const text = list?.[name];
  return text === undefined ? undefined : parseQuantity(text);
};

/** The kernel's preference for killing this container when memory runs out. */
export function oomScoreAdjust(pod: Pod, container: Container, memoryCapacityBytes: number): number {
  if ((pod.spec?.priority ?? 0) >= nodeCriticalPriority) return guaranteedScore;
  const qos = podQos(pod);
  if (qos === 'Guaranteed') return guaranteedScore;
  if (qos === 'BestEffort') return bestEffortScore;
  const request = read(container.resources?.requests, 'memory')?.value() ?? 0;
  const score = 1000 - Math.floor((1000 * request) / Math.max(1, memoryCapacityBytes));
  const sidecar = (pod.spec?.initContainers ?? []).some(
    (init) => init.name === container.name && isRestartableInitContainer(init),
  );
  const floor = 1000 + guaranteedScore;
  const regular = Math.min(
    ...(pod.spec?.containers ?? []).map((other) => read(other.resources?.requests, 'memory')?.value() ?? 0),
  );
  const least = sidecar ? Math.min(score, 1000 - Math.floor((1000 * regular) / Math.max(1, memoryCapacityBytes))) : score;
  return least < floor ? floor : least === bestEffortScore ? bestEffortScore - 1 : least;
}

export function containerResources(pod: Pod, container: Container, memoryCapacityBytes: number): LinuxContainerResources {
  const { limits, requests } = container.resources ?? {};
  const cpuLimit = read(limits, 'cpu')?.milliValue() ?? 0;
  const cpuRequest = read(requests, 'cpu')?.milliValue() ?? cpuLimit;
  const memoryLimit = read(limits, 'memory')?.value() ?? 0;
  const hugepages = Object.entries(limits ?? {}).filter(([name]) => name.startsWith('hugepages-'));
  return {
    cpuShares: milliCpuToShares(cpuRequest),
    cpuPeriod: cpuPeriodUs,
    cpuQuota: milliCpuToQuota(cpuLimit),
    memoryLimitInBytes: memoryLimit,
    oomScoreAdj: oomScoreAdjust(pod, container, memoryCapacityBytes),
    ...(hugepages.length > 0 && {
      hugepageLimits: hugepages.map(([name, amount]) => ({
        pageSize: name.slice('hugepages-'.length).replace(/i$/, 'B'),
        limit: parseQuantity(amount).value(),
      })),
    }),
  };
}
