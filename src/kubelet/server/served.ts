// What the server shows of a kubelet. The kubelet itself is such a thing; nothing else of it is the server's to look at.
import type { Pod, PodStatus } from '#api/core/v1';
import type { Clock } from '#utils';
import type { CgroupManager } from '../cgroups/manager.ts';
import type { PodRuntime } from '../container/runtime.ts';
import type { MountedVolume } from '../container/volume.ts';
import type { NodeState } from '../node/state.ts';
import type { Machine } from '../node/status.ts';
import type { KubeletOptions } from '../options.ts';

export interface ServedKubelet {
  readonly options: KubeletOptions;
  readonly parts: {
    runtime: PodRuntime;
    clock: Clock;
    state: Pick<NodeState, 'hostIPs'>;
    /** The paths of a pod's volumes, by volume name; absent where the runtime mounts no volumes. */
    volumePaths?(uid: string): ReadonlyMap<string, MountedVolume>;
    /** The cgroups of the pods; absent where pods have no cgroups of their own. */
    cgroups?: Pick<CgroupManager, 'parentOf' | 'version'>;
    machine(): Promise<Machine>;
  };
  readonly workers: { pods(): Pod[]; mirrors(): Pod[]; get(uid: string): { readonly pod: Pod } | undefined };
  readonly statuses: { get(uid: string): PodStatus | undefined };
  readonly probes: { metrics(): Promise<string> };
}
