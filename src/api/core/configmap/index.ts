// Config maps (core/v1; pkg/registry/core/configmap).
import type { ConfigMap } from '#api/core/v1';
import { root } from '#apimachinery/field';
import { byteLength } from '#apimachinery/validation';
import { age, columns } from '../../common/printing.ts';
import { collect, nowhere, type Report } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';
import { dataBytesMax, decodedLength, validateKey, validateKeys, validateStaysImmutable } from '../common/data.ts';

function validateData(report: Report, { data = {}, binaryData = {} }: ConfigMap): void {
  let bytes = 0;
  const path = root('data');
  for (const key in data) {
    validateKey(report, path, key);
    if (Object.hasOwn(binaryData, key)) report.invalid(path.key(key), key, 'duplicate of key present in binaryData');
    bytes += byteLength(data[key] ?? '');
  }
  validateKeys(report, root('binaryData'), binaryData);
  for (const key in binaryData) bytes += decodedLength(binaryData[key] ?? '');
  if (bytes > dataBytesMax) report.tooLong(nowhere, dataBytesMax);
}

export const configMap = defineKind<ConfigMap>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  validate: (object) => collect((report) => validateData(report, object)),
  validateUpdate: (object, old) =>
    collect((report) => {
      validateStaysImmutable(report, object, old, 'data', 'binaryData');
      validateData(report, object);
    }),
  printer: {
    columns: columns('Name', 'Data', 'Age'),
    cells: ({ metadata, data = {}, binaryData = {} }, now) => [
      metadata.name ?? '',
      Object.keys(data).length + Object.keys(binaryData).length,
      age(metadata, now),
    ],
  },
});
