// Objects as a Table, the form kubectl prints (https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables).
import type { Column, Printer, RowCondition } from '#api';
import { badRequest } from '#apimachinery/errors';
import { errorText, invalid, root } from '#apimachinery/field';
import type { KubeObject, ListMeta, ObjectMeta, UnknownObject } from '#apimachinery/meta';
import type { ServedResource } from '../registry/generic/types.ts';
import { withoutNulls } from '../registry/generic/values.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

interface TableRow {
  cells: (string | number | boolean | null)[];
  conditions?: RowCondition[];
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

/** The columns of kinds without a printer of their own. */
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

export const columnsOf = (resource: ServedResource): Required<Column>[] => describeColumns(printerOf(resource).columns);

/** The columns with all that a Table says of them. */
export const describeColumns = (columns: readonly Column[]): Required<Column>[] =>
  columns.map(({ name, type, format = '', description = '', priority = 0 }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));

/** The metadata of an object as PartialObjectMetadata, without the annotations that stand for fields. */
export const partialMetadata = (object: KubeObject, apiVersion: string, resource?: ServedResource): UnknownObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion,
  metadata: withoutAnnotations(object.metadata, resource?.definition.fieldAnnotations ?? []),
});

function withoutAnnotations(metadata: ObjectMeta, names: readonly string[]): ObjectMeta {
  const { annotations = {}, ...others } = metadata;
  if (!names.some((name) => name in annotations)) return metadata;
  const kept = Object.entries(annotations).filter(([name]) => !names.includes(name));
  return kept.length === 0 ? others : { ...metadata, annotations: Object.fromEntries(kept) };
}

/** `stored` is in the storage version, which printers know; `object` is what the client sees. */
export function rowOf(
  resource: ServedResource,
  stored: UnknownObject,
  object: UnknownObject,
  include: IncludeObject,
  apiVersion: string,
  now: number,
): TableRow {
  const printer = printerOf(resource);
  // Of a custom resource a null is a value.
  const plain = resource.custom ? stored : withoutNulls(stored);
  const conditions = printer.conditions?.(plain) ?? [];
  const row = { cells: printer.cells(plain, now), ...(conditions.length > 0 && { conditions }) };
  if (include === 'None') return { ...row, object: null };
  return { ...row, object: include === 'Object' ? object : partialMetadata(object, apiVersion, resource) };
}
