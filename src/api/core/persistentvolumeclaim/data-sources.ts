// `dataSource` and `dataSourceRef` say the same in two ways (KEP-1495; pkg/api/persistentvolumeclaim).
import type { PersistentVolumeClaimSpec, TypedLocalObjectReference } from '#api/core/v1';

const isClaimOrSnapshot = ({ apiGroup, kind }: TypedLocalObjectReference): boolean =>
  apiGroup ? kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io' : kind === 'PersistentVolumeClaim';

/** Fills the one from the other; in the old field other kinds than claims and snapshots are dropped silently. */
export function normalizeDataSources(spec: PersistentVolumeClaimSpec, old?: PersistentVolumeClaimSpec): void {
  // References to other namespaces are off by default (feature CrossNamespaceVolumeDataSource).
  if (spec.dataSourceRef?.namespace && !old?.dataSourceRef) delete spec.dataSourceRef;
  const kept = old?.dataSource ?? old?.dataSourceRef;
  if (!kept && !spec.dataSourceRef && spec.dataSource && !isClaimOrSnapshot(spec.dataSource)) delete spec.dataSource;
  copyDataSources(spec);
}

export function copyDataSources(spec: PersistentVolumeClaimSpec): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource && !dataSourceRef) spec.dataSourceRef = { ...dataSource };
  else if (dataSourceRef && !dataSource && !dataSourceRef.namespace) {
    const { namespace: _, ...local } = dataSourceRef;
    spec.dataSource = local;
  }
}
