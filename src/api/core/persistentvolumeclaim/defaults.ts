// Defaults of persistent volume claims (pkg/apis/core/v1/defaults.go).
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '#api/core/v1';
import { roundUpResourceList } from '../../common/quantities.ts';

export function persistentVolumeClaimSpecDefaults(spec: PersistentVolumeClaimSpec): void {
  spec.volumeMode ??= 'Filesystem';
  roundUpResourceList(spec.resources?.limits);
  roundUpResourceList(spec.resources?.requests);
}

export function persistentVolumeClaimDefaults(claim: PersistentVolumeClaim): void {
  persistentVolumeClaimSpecDefaults((claim.spec ??= {}));
  const status = (claim.status ??= {});
  status.phase ||= 'Pending';
  roundUpResourceList(status.capacity);
  roundUpResourceList(status.allocatedResources);
}
