// A claim whose volume has become larger: what is in the volume grows while it is mounted, and the claim says so (upstream pkg/volume/util/operationexecutor
// node_expander.go; KEP-1790 for claims whose expansion failed).
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimCondition, Pod } from '#api/core/v1';
import { formatTime } from '#apimachinery/meta';
import { parseQuantity } from '#apimachinery/quantity';
import type { EventRecorder, KubeClient } from '#client';
import { type Clock, quote } from '#utils';
import { PluginError } from '../../../csi/index.ts';
import { persistentVolumeOf } from './requests.ts';
import type { CsiVolumes } from './volumes.ts';

const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
const resizing = ['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError'];
/** What a controller has left to the node, and what an earlier kubelet did not finish. */
const forTheNode = ['NodeResizePending', 'NodeResizeInProgress'];
/** Codes of gRPC: the volume can never have that size; and not while it is used. */
const infeasible = { invalidArgument: 3, notFound: 5, outOfRange: 11 };
const failedPrecondition = 9;
/** The driver may still be at it. */
const unfinished = { cancelled: 1, deadlineExceeded: 4, resourceExhausted: 8, aborted: 10, unavailable: 14 };

const has = (codes: Record<string, number>, error: unknown): boolean =>
  error instanceof PluginError && Object.values(codes).includes(error.code);

const bytesOf = (text: string | undefined): bigint => (text === undefined ? 0n : BigInt(parseQuantity(text).value()));

export interface GrowDeps {
  client: KubeClient;
  clock: Clock;
  recorder: EventRecorder;
  csi: CsiVolumes;
}

interface Growth {
  pod: Pod;
  persistentVolume: PersistentVolume;
  claim: PersistentVolumeClaim;
  size: string;
  /** The controller keeps account of the steps: so does the node. */
  accounted: boolean;
}

/** Does nothing where the claim already has what its volume has. Rejects when the driver fails, unless that is no reason not to use the volume. */
export async function growIfLarger(
  deps: GrowDeps,
  pod: Pod,
  persistentVolume: PersistentVolume,
  readOnly: boolean,
): Promise<void> {
  const { namespace, name = '' } = persistentVolume.spec?.claimRef ?? {};
  const capacity = persistentVolume.spec?.capacity?.['storage'];
  const claim = await deps.client.resource<PersistentVolumeClaim>(claims, namespace).get(name);
  const { capacity: has, allocatedResources, allocatedResourceStatuses } = claim.status ?? {};
  const known = has?.['storage'];
  if (capacity === undefined || known === undefined || bytesOf(capacity) <= bytesOf(known)) return;
  const volumeName = quote(persistentVolume.metadata.name ?? '');
  if (readOnly) {
    const message = `MountVolume.NodeExpandVolume failed for volume ${volumeName} requested read-only file system`;
    tell(deps, pod, claim, 'Warning', 'FileSystemResizeFailed', message);
    return;
  }
  const status = allocatedResourceStatuses?.['storage'] ?? '';
  const accounted = status !== '' || allocatedResources !== undefined;
  if (accounted && !forTheNode.includes(status)) return;
  const size = (accounted && allocatedResources?.['storage']) || capacity;
  await grow(deps, { pod, persistentVolume, claim, size, accounted });
}

async function grow(deps: GrowDeps, growth: Growth): Promise<void> {
  const { pod, persistentVolume, accounted, size } = growth;
  const claim = accounted
    ? await update(deps, growth.claim, { allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } })
    : growth.claim;
  const name = quote(persistentVolume.metadata.name ?? '');
  try {
    await deps.csi.expand(pod, persistentVolumeOf(persistentVolume, false), bytesOf(size));
  } catch (error) {
    await failed(deps, { ...growth, claim }, error);
    return;
  }
  const message = `MountVolume.NodeExpandVolume succeeded for volume ${name} ${pod.spec?.nodeName ?? ''}`;
  tell(deps, pod, claim, 'Normal', 'FileSystemResizeSuccessful', message.trimEnd());
  const { storage: _, ...others } = claim.status?.allocatedResourceStatuses ?? {};
  await update(deps, claim, {
    capacity: { storage: size },
    conditions: (claim.status?.conditions ?? []).filter(({ type }) => !resizing.includes(type)),
    allocatedResourceStatuses: Object.keys(others).length > 0 ? { storage: null } : null,
  });
}

/** Says what became of it. Rejects with the error, except where the volume can be used as it is. */
async function failed(deps: GrowDeps, { pod, persistentVolume, claim, accounted }: Growth, error: unknown): Promise<void> {
  const reason = `failed to expand pvc with Expander.NodeExpand failed to expand the volume : ${(error as Error).message}`;
  if (accounted && !has(unfinished, error)) {
    const at = formatTime(deps.clock.now());
    const condition: PersistentVolumeClaimCondition = {
      type: 'NodeResizeError',
      status: 'True',
      lastTransitionTime: at,
      message: reason,
    };
    const others = (claim.status?.conditions ?? []).filter(({ type }) => type !== condition.type);
    await update(deps, claim, {
      conditions: [...others, condition],
      ...(has(infeasible, error) && { allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } }),
    });
  }
  if (error instanceof PluginError && error.code === failedPrecondition) return;
  const name = quote(persistentVolume.metadata.name ?? '');
  const message = `NodeExpandVolume.NodeExpandVolume failed for volume ${name} : Expander.NodeExpand failed to expand the volume : ${(error as Error).message}`;
  tell(deps, pod, claim, 'Warning', 'VolumeResizeFailed', message);
  throw error;
}

/** Patches the claim's status, if nobody else has changed it meanwhile. */
function update({ client }: GrowDeps, { metadata }: PersistentVolumeClaim, status: object): Promise<PersistentVolumeClaim> {
  const { name = '', namespace, resourceVersion } = metadata;
  const resource = client.resource<PersistentVolumeClaim>(claims, namespace);
  const body = { metadata: { resourceVersion }, status };
  return resource.patch(name, 'application/merge-patch+json', body, { subresource: 'status' });
}

function tell(
  { recorder }: GrowDeps,
  pod: Pod,
  claim: PersistentVolumeClaim,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): void {
  recorder.event({ ...pod, apiVersion: 'v1', kind: 'Pod' }, type, reason, message);
  recorder.event({ ...claim, apiVersion: 'v1', kind: 'PersistentVolumeClaim' }, type, reason, message);
}
