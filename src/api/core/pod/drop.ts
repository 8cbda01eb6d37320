// Fields whose feature gates are off by default in v1.36 are dropped from what clients send, unless the object had them already
// (pkg/api/pod, DropDisabledPodFields).
import type * as core from '#api/core/v1';
import { containersOf } from './containers.ts';

const projections = ['clusterTrustBundle', 'podCertificate'] as const;

const projectedSources = (spec: core.PodSpec): core.VolumeProjection[] =>
  (spec.volumes ?? []).flatMap((volume) => volume.projected?.sources ?? []);

/**
 * Drops the fields of features that are off (ClusterTrustBundleProjection, PodCertificateRequest, ContainerStopSignals, GenericWorkload),
 * unless the old pod has them.
 */
export function dropDisabledPodFields(spec: core.PodSpec, old: core.PodSpec | undefined): void {
  for (const name of projections) {
    if (old && projectedSources(old).some((source) => source[name])) continue;
    for (const source of projectedSources(spec)) delete source[name];
  }
  if (!old || !containersOf(old).some(({ lifecycle }) => lifecycle?.stopSignal !== undefined)) {
    for (const container of containersOf(spec)) dropStopSignal(container);
  }
  if (!old?.schedulingGroup) delete spec.schedulingGroup;
}

function dropStopSignal(container: { lifecycle?: core.Lifecycle }): void {
  const { lifecycle } = container;
  if (lifecycle?.stopSignal === undefined) return;
  delete lifecycle.stopSignal;
  if (!lifecycle.postStart && !lifecycle.preStop) delete container.lifecycle;
}

/**
 * Drops the fields of a status that belong to the disabled features DRANodeAllocatableResources and ImageVolumeWithDigest, unless the old object has
 * them.
 */
export function dropDisabledPodStatus(status: core.PodStatus, old: core.PodStatus | undefined): void {
  if (!old?.nodeAllocatableResourceClaimStatuses?.length) delete status.nodeAllocatableResourceClaimStatuses;
  const statuses = (of: core.PodStatus): core.ContainerStatus[] => [
    ...(of.containerStatuses ?? []),
    ...(of.initContainerStatuses ?? []),
    ...(of.ephemeralContainerStatuses ?? []),
  ];
  const withDigest = old && statuses(old).some(({ volumeMounts }) => volumeMounts?.some(({ volumeStatus }) => volumeStatus));
  if (withDigest) return;
  for (const { volumeMounts } of statuses(status)) for (const mount of volumeMounts ?? []) delete mount.volumeStatus;
}
