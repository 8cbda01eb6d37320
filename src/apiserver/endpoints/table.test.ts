import { expect, test } from 'vitest';
import type { UnknownObject } from '#apimachinery/meta';
import { printerOf } from '../apiextensions/columns.ts';
import type { ServedResource } from '../registry/generic/types.ts';
import { rowOf } from './table.ts';

test('a column of a custom resource shows a null as upstream does, built-in printers meet none', () => {
  const columns = [
    { name: 'Null', type: 'string', jsonPath: '.spec.none' },
    { name: 'Absent', type: 'string', jsonPath: '.spec.absent' },
  ];
  const printer = printerOf({ name: 'v1', served: true, storage: true, additionalPrinterColumns: columns });
  const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { none: null } } as UnknownObject;
  const cells = (custom: boolean): unknown[] =>
    rowOf({ custom, definition: { printer } } as unknown as ServedResource, object, object, 'None', 'v1', 0).cells;
  expect(cells(true)).toEqual(['a', '<no value>', null]);
  expect(cells(false)).toEqual(['a', null, null]);
});
