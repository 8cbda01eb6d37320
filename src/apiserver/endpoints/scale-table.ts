// A Scale as a Table (pkg/printers/internalversion, printScale).
import { ago, type Column } from '#api';
import type { UnknownObject } from '#apimachinery/meta';
import type { Negotiated } from './negotiation.ts';
import { type IncludeObject, partialMetadata, type Table } from './table.ts';

const column = (name: string, type: Column['type'], format = ''): Required<Column> => ({
  name,
  type,
  format,
  description: '',
  priority: 0,
});

/** Scales of custom resources are printed by another table, whose columns say more of themselves. */
const columnsFor = (custom: boolean): Required<Column>[] => [
  column('Name', 'string', custom ? 'name' : ''),
  column('Desired', 'integer'),
  column('Available', 'integer'),
  column('Age', custom ? 'date' : 'string'),
];

export function scaleTable(
  custom: boolean,
  scale: UnknownObject,
  { apiVersion }: Negotiated,
  include: IncludeObject,
  now: number,
): Table {
  const { spec, status, metadata } = scale as UnknownObject & { spec?: { replicas?: number }; status?: { replicas?: number } };
  const cells = [metadata.name ?? '', spec?.replicas ?? 0, status?.replicas ?? 0, ago(metadata.creationTimestamp, now)];
  const object = include === 'None' ? null : include === 'Object' ? scale : partialMetadata(scale, apiVersion);
  return {
    kind: 'Table',
    apiVersion,
    metadata: { resourceVersion: metadata.resourceVersion ?? '' },
    columnDefinitions: columnsFor(custom),
    rows: [{ cells, object }],
  };
}
