// Bounds the pods of the node together (upstream pkg/kubelet/cm node_container_manager_linux.go).
import { parseQuantity } from '#apimachinery/quantity';
import type { Machine } from '../node/status.ts';
import type { CgroupManager } from './manager.ts';

type Tell = (type: 'Normal' | 'Warning', reason: string, message: string) => void;

/** Leaves pods what is not reserved for the machine's own programs, and says so. */
export async function enforceNodeAllocatable(
  cgroups: CgroupManager,
  reserved: Readonly<Record<string, string>>,
  { cpuMillis, memoryBytes }: Machine,
  tell: Tell,
): Promise<void> {
  if (cgroups.version === undefined) return;
  if (cgroups.version === 1) tell('Warning', 'CgroupV1', cgroupV1Warning);
  const kept = (name: string) => parseQuantity(reserved[name] ?? '0');
  try {
    await cgroups.limitPods({
      cpuMillis: Math.max(0, cpuMillis - kept('cpu').milliValue()),
      memoryBytes: Math.max(0, memoryBytes - kept('memory').value()),
    });
    tell('Normal', 'NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods');
  } catch (error) {
    const message = `Failed to update Node Allocatable Limits ["kubepods"]: ${(error as Error).message}`;
    tell('Warning', 'FailedNodeAllocatableEnforcement', message);
  }
}

const cgroupV1Warning =
  'cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1';
