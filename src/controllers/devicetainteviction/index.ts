// Evicts pods whose devices get a NoExecute taint, after the time that their requests' tolerations give them (pkg/controller/devicetainteviction,
// KEP-5055). Taints are those that drivers publish with their devices.
import type { Pod, PodCondition } from '#api/core/v1';
import type { DeviceRequestAllocationResult, DeviceTaint, ResourceClaim, ResourceSlice } from '#api/resource/v1';
import { keyOf, splitKey } from '#apimachinery/meta';
import { claimNameOf, isReservedFor, ownerProblem, toleratesDeviceTaint } from '#component-helpers/resourceclaim';
import { type Cache, type ControllerDefinition, defineController, type Effect, type Plan, watch } from '#controller-runtime';
import { patchPodStatus, pods, refOf, saysCondition } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';

const resourceClaims = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceclaims' };
const resourceSlices = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceslices' };
/** Slices, and claims with devices of them, by `driver/pool`. */
const slicesByPool = 'pool';
const claimsByPool = 'allocatedPool';

const condition: PodCondition = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByDeviceTaintManager',
  message: 'Device Taint manager: deleting due to NoExecute taint',
};

/** A device that the pod uses, with its taints. */
export interface UsedDevice {
  result: DeviceRequestAllocationResult;
  taints: readonly DeviceTaint[];
}

export interface DeviceEvictionView {
  pod: Pod | undefined;
  devices: readonly UsedDevice[];
  /** Whether the pod has been waiting for its eviction. */
  isWaiting: boolean;
}

interface Reason {
  /** When the pod has to go, in milliseconds since the epoch. */
  atMs: number;
  text: string;
}

const isExecuting = ({ effect }: DeviceTaint): boolean => effect === 'NoExecute';

/** When a taint sends the user of a device away; undefined: it is tolerated for ever. */
function evictionOf({ result }: UsedDevice, taint: DeviceTaint, now: number): Reason | undefined {
  const tolerations = (result.tolerations ?? []).filter((one) => one.effect === 'NoExecute' && toleratesDeviceTaint(one, taint));
  if (tolerations.some(({ tolerationSeconds }) => tolerationSeconds === undefined)) return undefined;
  const seconds = tolerations.map(({ tolerationSeconds = 0 }) => Math.max(0, tolerationSeconds));
  const since = typeof taint.timeAdded === 'string' ? Date.parse(taint.timeAdded) : now;
  return {
    atMs: since + (seconds.length > 0 ? Math.min(...seconds) * 1000 : 0),
    text: `device ${result.driver}/${result.pool}/${result.device} has the taint ${taint.key}`,
  };
}

const event = (pod: Pod, message: string): Effect => ({
  op: 'event',
  regarding: { ...pod, apiVersion: 'v1', kind: 'Pod' },
  type: 'Normal',
  reason: 'DeviceTaintManagerEviction',
  message,
});

/** Decides whether the pod keeps its devices, waits or goes. */
export function reconcileDeviceEviction({ pod, devices, isWaiting }: DeviceEvictionView, now: number): Plan {
  if (!pod?.spec?.nodeName) return { effects: [] };
  const reasons = devices.flatMap((device) =>
    device.taints.filter(isExecuting).flatMap((taint) => evictionOf(device, taint, now) ?? []),
  );
  const [first] = reasons.sort((a, b) => a.atMs - b.atMs);
  if (first === undefined) {
    if (!isWaiting) return { effects: [] };
    return {
      effects: [event(pod, 'Cancelling deletion')],
      because: 'Its devices are well again, or it tolerates what they have.',
    };
  }
  const waitMs = first.atMs - now;
  if (waitMs > 0)
    return { effects: [], remember: true, requeueAfterMs: waitMs, because: `Its ${first.text}, which it tolerates for a while.` };
  if (pod.metadata.deletionTimestamp !== undefined) return { effects: [] };
  const { generation, uid = '' } = pod.metadata;
  return {
    effects: [
      event(pod, 'Marking for deletion'),
      ...(saysCondition(pod, condition) ? [] : [patchPodStatus(pod, now, { ...condition, observedGeneration: generation })]),
      { op: 'delete', ref: refOf(pods, pod), options: { preconditions: { uid } } },
    ],
    because: `Its ${first.text}, which it does not tolerate: it is deleted, so that it can be replaced with another device.`,
  };
}

const poolOf = ({ driver, pool }: { driver: string; pool: string }): string => `${driver}/${pool}`;
const resultsOf = ({ status }: ResourceClaim): readonly DeviceRequestAllocationResult[] =>
  status?.allocation?.devices?.results ?? [];
const usersOf = ({ metadata, status }: ResourceClaim): string[] =>
  (status?.reservedFor ?? []).filter(({ resource }) => resource === 'pods').map(({ name }) => `${metadata.namespace}/${name}`);
const hasExecuting = ({ spec }: ResourceSlice): boolean =>
  (spec.devices ?? []).some(({ taints }) => taints?.some(isExecuting) === true);
const poolOfSlice = ({ spec }: ResourceSlice): string => poolOf({ driver: spec.driver, pool: spec.pool.name });

/** Taints of a device, from the newest slice that publishes it. */
function taintsOf(result: DeviceRequestAllocationResult, cache: Cache): readonly DeviceTaint[] {
  const slices = cache.byIndex<ResourceSlice>(resourceSlices, slicesByPool, poolOf(result));
  const newest = Math.max(...slices.map(({ spec }) => spec.pool.generation));
  for (const { spec } of slices) {
    const device = spec.pool.generation === newest && spec.devices?.find(({ name }) => name === result.device);
    if (device) return device.taints ?? [];
  }
  return [];
}

function devicesOf(pod: Pod, cache: Cache): UsedDevice[] {
  const { namespace = '', uid = '' } = pod.metadata;
  return (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
    const name = claimNameOf(pod, entry);
    const claim = name ? cache.get<ResourceClaim>(resourceClaims, namespace, name) : undefined;
    if (claim === undefined || !isReservedFor(claim, uid)) return [];
    if (entry.resourceClaimTemplateName !== undefined && ownerProblem(pod, claim) !== undefined) return [];
    return resultsOf(claim).map((result) => ({ result, taints: taintsOf(result, cache) }));
  });
}

export const deviceTaintEvictionController: ControllerDefinition = defineController<DeviceEvictionView>({
  name: 'device-taint-eviction-controller',
  for: pods,
  concurrency: { flag: 'concurrent-device-taint-eviction-syncs', default: 8 },
  rights: [
    allow('delete,get,list,watch', 'core', 'pods'),
    allow('patch,update', 'core', 'pods/status'),
    allow('get,list,watch', 'resource.k8s.io', 'resourceclaims'),
    allow('get,list,watch', 'resource.k8s.io', 'resourceslices'),
    allow('get,list,watch', 'resource.k8s.io', 'deviceclasses'),
    recordEvents,
  ],
  watches: [
    watch<Pod>({
      resource: pods,
      keys: (pod, old) =>
        (pod.spec?.resourceClaims?.length ?? 0) > 0 && pod.spec?.nodeName && old?.spec?.nodeName !== pod.spec.nodeName
          ? [keyOf(pod.metadata)]
          : [],
    }),
    watch<ResourceClaim>({
      resource: resourceClaims,
      indexers: { [claimsByPool]: (claim) => [...new Set(resultsOf(claim).map(poolOf))] },
      keys: (claim, old) => new Set([...usersOf(claim), ...(old ? usersOf(old) : [])]),
    }),
    watch<ResourceSlice>({
      resource: resourceSlices,
      indexers: { [slicesByPool]: (slice) => [poolOfSlice(slice)] },
      keys: (slice, old, cache) =>
        hasExecuting(slice) || (old && hasExecuting(old))
          ? new Set(cache.byIndex<ResourceClaim>(resourceClaims, claimsByPool, poolOfSlice(slice)).flatMap(usersOf))
          : [],
    }),
  ],
  view(key, cache, { memory }) {
    const { namespace, name } = splitKey(key);
    const pod = cache.get<Pod>(pods, namespace, name);
    const known = memory as { uid: string | undefined } | undefined;
    return { pod, devices: pod ? devicesOf(pod, cache) : [], isWaiting: known !== undefined && known.uid === pod?.metadata.uid };
  },
  reconcile(view, now) {
    const plan = reconcileDeviceEviction(view, now);
    return plan.remember === undefined ? plan : { ...plan, remember: { uid: view.pod?.metadata.uid } };
  },
});
