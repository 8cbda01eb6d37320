// Defaults of volume sources (pkg/apis/core/v1/defaults.go, SetDefaults_Volume and the markers of the sources). Persistent volumes share
// what they share of the sources.
import type { PersistentVolumeSource, Volume } from '#api/core/v1';
import { isEmptyMap } from '../../common/report.ts';
import { defaultPullPolicy } from './images.ts';

const defaultMode = 0o644;

/** Fills in the defaults of the sources that pods and persistent volumes both have. */
export function volumeSourceDefaults(
  source: Pick<PersistentVolumeSource, 'iscsi' | 'rbd' | 'azureDisk' | 'scaleIO' | 'hostPath'>,
): void {
  const { iscsi, rbd, azureDisk, scaleIO, hostPath } = source;
  if (iscsi) iscsi.iscsiInterface ||= 'default';
  if (rbd) {
    rbd.pool ||= 'rbd';
    rbd.user ||= 'admin';
    rbd.keyring ||= '/etc/ceph/keyring';
  }
  if (azureDisk) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
    azureDisk.kind ??= 'Shared';
  }
  if (scaleIO) {
    scaleIO.storageMode ||= 'ThinProvisioned';
    scaleIO.fsType ||= 'xfs';
  }
  if (hostPath) hostPath.type ??= '';
}

export function volumeDefaults(volume: Volume): void {
  const { name: _, ...sources } = volume;
  if (isEmptyMap(sources)) volume.emptyDir = {};
  if (volume.image) volume.image.pullPolicy ||= defaultPullPolicy(volume.image.reference);
  for (const source of [volume.secret, volume.configMap, volume.downwardAPI, volume.projected])
    if (source) source.defaultMode ??= defaultMode;
  downwardAPIDefaults(volume.downwardAPI?.items);
  for (const source of volume.projected?.sources ?? []) {
    downwardAPIDefaults(source.downwardAPI?.items);
    if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600;
  }
  volumeSourceDefaults(volume);
}

function downwardAPIDefaults(items: { fieldRef?: { apiVersion?: string } }[] | undefined): void {
  for (const { fieldRef } of items ?? []) if (fieldRef) fieldRef.apiVersion ||= 'v1';
}
