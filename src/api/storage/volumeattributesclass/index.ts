// Volume attributes classes (storage.k8s.io/v1; KEP-3751; pkg/registry/storage/volumeattributesclass).
import type { VolumeAttributesClass } from '#api/storage/v1';
import { root } from '#apimachinery/field';
import { semanticEqual } from '../../common/equality.ts';
import { age, columns } from '../../common/printing.ts';
import { collect, type Report } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';
import { validateParameters, validateProvisioner } from '../common/provisioner.ts';

function validateClass(report: Report, { driverName, parameters }: VolumeAttributesClass): void {
  validateProvisioner(report, root('driverName'), driverName);
  validateParameters(report, parameters, false);
}

export const volumeAttributesClass = defineKind<VolumeAttributesClass>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttributesClass',
  deletion: { returnsObject: true },
  validate: (object) => collect((report) => validateClass(report, object)),
  validateUpdate: (object, old) =>
    collect((report) => {
      for (const field of ['driverName', 'parameters'] as const)
        if (!semanticEqual(object[field], old[field])) report.forbidden(root(field), `updates to ${field} are forbidden.`);
      validateClass(report, object);
    }),
  printer: {
    columns: columns('Name', 'DriverName', 'Age'),
    cells: ({ metadata, driverName }, now) => [metadata.name ?? '', driverName, age(metadata, now)],
  },
});
