// A group version whose objects are made when they are read, from what others know: no storage, no watch. It is served here as long as its APIService
// names no Service; with one, another API server takes it over.
import type { DiscoveredResource } from './resource-table.ts';
import type { SpecialRest } from './special.ts';

/** A type of its own in the OpenAPI documents; `reference` refers to another type by name. */
export interface PublishedType {
  name: string;
  /** Absent for parts of kinds. */
  kind?: string;
  schema(reference: (typeName: string) => Record<string, unknown>): Record<string, unknown>;
}

export interface VirtualGroup {
  group: string;
  version: string;
  /** The priorities of its APIService. */
  priority: { groupPriorityMinimum: number; versionPriority: number };
  resources: readonly DiscoveredResource[];
  types: readonly PublishedType[];
  endpoints: readonly SpecialRest[];
}
