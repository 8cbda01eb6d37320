// The columns of a table of custom resources (apiextensions-apiserver, pkg/registry/customresource/tableconvertor).
import { ago, type Column, type KindDefinition } from '#api';

import type { CustomResourceColumnDefinition, CustomResourceDefinitionVersion } from '#api/apiextensions/v1';
import type { KubeObject } from '#apimachinery/meta';
import { goPrint } from '#utils';
import { goEscaped } from '#apimachinery/codec';
import { follow, JsonPathError, type Path, pathOf, Visits } from './json-path/index.ts';
import { limits } from './limits.ts';

type Cell = string | number | boolean | null;

// What upstream's types say of these fields.
const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
};
const ageColumn: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
};

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)$/;

/** How long ago. */
function dateCell(value: unknown, now: number): Cell {
  if (typeof value !== 'string') return null;
  if (value === '' || value === 'null') return '<unknown>';
  const time = value.replace(',', '.');
  return dateTime.test(value) && !Number.isNaN(Date.parse(time)) ? ago(time, now) : '<invalid>';
}

/** As Go prints the value, objects and lists as JSON. */
const textCell = (value: unknown): Cell => {
  if (value === null) return '<no value>';
  return typeof value === 'object' ? goEscaped(JSON.stringify(value, sortedKeys)) : goPrint(value);
};

const sortedKeys = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [two]) => (one < two ? -1 : 1)))
    : value;

/** A value as a cell of the column; a value of another type gives an empty cell. */
function cellOf(value: unknown, type: string, now: number): Cell {
  switch (type) {
    case 'string':
      return textCell(value);
    case 'date':
      return dateCell(value, now);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    default:
      return null;
  }
}

interface Declared {
  definition: CustomResourceColumnDefinition;
  path: Path;
}

/** The columns before the first one whose path is not valid. */
function readColumns(definitions: readonly CustomResourceColumnDefinition[]): Declared[] {
  const declared: Declared[] = [];
  try {
    for (const definition of definitions) declared.push({ definition, path: pathOf(definition.jsonPath) });
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
  }
  return declared;
}

/** The first value that a path leads to; undefined: it leads to none. */
function firstValue(object: KubeObject, path: Path, visits: Visits): unknown {
  try {
    return follow([object], path, visits)[0];
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}

/** A printer for one version of a definition. */
export function printerOf(version: CustomResourceDefinitionVersion): NonNullable<KindDefinition['printer']> {
  const given = version.additionalPrinterColumns ?? [];
  const declared = readColumns(given.length > 0 ? given : [ageColumn]);
  const columns = declared.map(
    ({ definition: { name, type, format, priority, description, jsonPath } }): Column => ({
      name,
      type: type as Column['type'],
      description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
      ...(format && { format }),
      ...(priority && { priority }),
    }),
  );
  return {
    columns: [nameColumn, ...columns],
    cells: (object, now) => {
      const visits = new Visits(limits.visitsPerRowMax);
      const cells = declared.map(({ definition, path }): Cell => {
        const value = firstValue(object, path, visits);
        return value === undefined ? null : cellOf(value, definition.type, now);
      });
      return [object.metadata.name ?? '', ...cells];
    },
  };
}
