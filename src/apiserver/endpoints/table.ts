// Objects as a Table, the form kubectl prints (https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables).
import type { Column, Printer } from '#api';
import { badRequest } from '#apimachinery/errors';
import { errorText, invalid, root } from '#apimachinery/field';
import type { KubeObject, ListMeta, UnknownObject } from '#apimachinery/meta';
import type { ServedResource } from '../registry/generic/types.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

interface TableRow {
  cells: (string | number | boolean | null)[];
  object?: unknown;
}

export interface Table {
  kind: 'Table';
  apiVersion: string;
  metadata: ListMeta;
  columnDefinitions?: Required<Column>[];
  rows: TableRow[];
}

const nameDescription =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated.';

/** For kinds without a printer of their own. */
const fallback: Printer<KubeObject> = {
  columns: [
    { name: 'Name', type: 'string', format: 'name', description: nameDescription },
    { name: 'Created At', type: 'date' },
  ],
  cells: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? null],
};

export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') ?? '';
  if (value === '' || value === 'Metadata') return 'Metadata';
  if (value === 'Object' || value === 'None') return value;
  const problem = errorText(invalid(root('includeObject'), value, "must be 'Metadata', 'Object', 'None', or empty"));
  throw badRequest(`Unable to convert to Table as requested: ${problem}`);
}

const printerOf = (resource: ServedResource): Printer<KubeObject> => resource.definition.printer ?? fallback;

export function columnsOf(resource: ServedResource): Required<Column>[] {
  return printerOf(resource).columns.map(({ name, type, format = '', description = '', priority = 0 }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
}

/** metadata only, as PartialObjectMetadata. */
export const partialMetadata = (object: KubeObject, apiVersion: string): UnknownObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion,
  metadata: object.metadata,
});

export function rowOf(
  resource: ServedResource,
  object: UnknownObject,
  include: IncludeObject,
  apiVersion: string,
  now: number,
): TableRow {
  const cells = printerOf(resource).cells(object, now);
  if (include === 'None') return { cells, object: null };
  return { cells, object: include === 'Object' ? object : partialMetadata(object, apiVersion) };
}
