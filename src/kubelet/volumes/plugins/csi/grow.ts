// A claim whose volume has become larger: the file system grows while it is mounted, and the claim says so (upstream pkg/volume/util/operationexecutor
// node_expander.go).
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '#api/core/v1';
import { parseQuantity } from '#apimachinery/quantity';
import type { KubeClient } from '#client';
import { persistentVolumeOf } from './requests.ts';
import type { CsiVolumes } from './volumes.ts';

const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
const resizing = ['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError'];

const bytesOf = (text: string | undefined): bigint => (text === undefined ? 0n : BigInt(parseQuantity(text).value()));

/** Does nothing where the claim already has what its volume has. */
export async function growIfLarger(
  { client, csi }: { client: KubeClient; csi: CsiVolumes },
  pod: Pod,
  persistentVolume: PersistentVolume,
): Promise<void> {
  const { namespace, name = '' } = persistentVolume.spec?.claimRef ?? {};
  const capacity = persistentVolume.spec?.capacity?.['storage'];
  const resource = client.resource<PersistentVolumeClaim>(claims, namespace);
  const claim = await resource.get(name);
  const known = claim.status?.capacity?.['storage'];
  if (capacity === undefined || known === undefined || bytesOf(capacity) <= bytesOf(known)) return;
  await csi.expand(pod, persistentVolumeOf(persistentVolume, false), bytesOf(capacity));
  const body = {
    metadata: { resourceVersion: claim.metadata.resourceVersion },
    status: {
      capacity: { ...claim.status?.capacity, storage: capacity },
      conditions: (claim.status?.conditions ?? []).filter(({ type }) => !resizing.includes(type)),
      allocatedResourceStatuses: null,
    },
  };
  await resource.patch(name, 'application/merge-patch+json', body, { subresource: 'status' });
}
