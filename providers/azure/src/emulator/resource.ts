// Resources as Azure Resource Manager shows them, and their IDs.

export interface Resource {
  id: string;
  name: string;
  type: string;
  location?: string;
  etag?: string;
  tags?: Record<string, string>;
  zones?: string[];
  sku?: { name?: string };
  properties: Record<string, unknown>;
  [field: string]: unknown;
}
/** A part of a resource, as a probe of a load balancer. */
export interface Part {
  name?: string;
  id?: string;
  properties?: Record<string, unknown>;
  [field: string]: unknown;
}

export const same = (a: unknown, b: unknown): boolean =>
  typeof a === 'string' && typeof b === 'string' && a.toLowerCase() === b.toLowerCase();
export const idOf = (value: unknown): string => ((value as { id?: string } | undefined)?.id ?? '').toLowerCase();
export const partsOf = (resource: Resource | undefined, list: string): Part[] =>
  (resource?.properties[list] as Part[] | undefined) ?? [];
export const lastOf = (id: string): string => id.slice(id.lastIndexOf('/') + 1);
