// Slices of a driver's devices (resource.k8s.io/v1; KEP-4381; pkg/registry/resource/resourceslice).
import type { Device, ResourceSlice } from '#api/resource/v1';
import { formatTime } from '#apimachinery/meta';
import { quote } from '#utils';
import { age, columns } from '../../common/printing.ts';
import { collect } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';
import { validateSlice } from './validation.ts';

/** Removes the fields of features that are off by default in v1.36 (DRAListTypeAttributes, DRANodeAllocatableResources), unless the old object used them. */
function dropDisabled({ spec }: ResourceSlice, old?: ResourceSlice): void {
  const hasLists = (device: Device): boolean =>
    Object.values(device.attributes ?? {}).some(({ bools, ints, strings, versions }) => bools ?? ints ?? strings ?? versions);
  const keepsLists = old?.spec.devices?.some(hasLists) ?? false;
  const keepsMappings = old?.spec.devices?.some((device) => device.nodeAllocatableResourceMappings !== undefined) ?? false;
  for (const device of spec.devices ?? []) {
    if (!keepsMappings) delete device.nodeAllocatableResourceMappings;
    if (keepsLists) continue;
    for (const attribute of Object.values(device.attributes ?? {}))
      for (const field of ['bools', 'ints', 'strings', 'versions'] as const) delete attribute[field];
  }
}

/** Taints are dated when they are first stored. */
function dateTaints({ spec }: ResourceSlice, now: number): void {
  for (const device of spec.devices ?? []) for (const taint of device.taints ?? []) taint.timeAdded ??= formatTime(now);
}

export const resourceSlice = defineKind<ResourceSlice>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceSlice',
  metadataRules: 'change',
  deletion: { returnsObject: true },
  generation: ({ spec }) => spec ?? {},
  defaults({ spec }) {
    for (const device of spec?.devices ?? [])
      for (const mapping of Object.values(device.nodeAllocatableResourceMappings ?? {})) mapping.allocationMultiplier ??= '1';
  },
  prepareForCreate(draft, { now }) {
    dateTaints(draft, now);
    dropDisabled(draft);
  },
  prepareForUpdate(draft, old, { now }) {
    dateTaints(draft, now);
    dropDisabled(draft, old);
  },
  validate: ({ spec }) => collect((report) => validateSlice(report, spec)),
  validateUpdate: ({ spec }, { spec: old }) => collect((report) => validateSlice(report, spec, old)),
  warnings: ({ spec: { driver } }) =>
    driver === driver.toLowerCase()
      ? []
      : [`spec.driver: driver names should be lowercase; ${quote(driver)} contains uppercase characters`],
  printer: {
    columns: columns('Name', 'Node', 'Driver', 'Pool', 'Age'),
    cells: ({ metadata, spec }, now) => [
      metadata.name ?? '',
      spec.nodeName ?? '',
      spec.driver,
      spec.pool?.name ?? '',
      age(metadata, now),
    ],
  },
  unknownFieldText: (field) => `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${field}`,
  indexedBy: 'spec.nodeName',
  selectableFields: ({ spec }) => ({ 'spec.nodeName': spec.nodeName ?? '', 'spec.driver': spec.driver }),
});
