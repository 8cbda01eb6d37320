// The generated facts of v1.36 (spec/generate.mjs): every built-in type, and every resource a default apiserver serves.
import { parseApiVersion } from '#apimachinery/meta';
import { type SchemaTable, schemaTableOf } from '#apimachinery/schema';
import resourceFile from './resources.gen.json' with { type: 'json' };
import schemaFile from './schema.gen.json' with { type: 'json' };

/** One resource or subresource as discovery lists it (metav1.APIResource). */
export interface BuiltinResource {
  /** Where it is served. */
  group: string;
  version: string;
  /** Plural, without the subresource: 'pods'. */
  resource: string;
  /** '' for the resource itself, else 'status', 'scale', ... */
  subresource: string;
  /** '' for subresources. */
  singularName: string;
  namespaced: boolean;
  /** What is sent and answered; of another group or version only for subresources (Scale, Eviction, TokenRequest). */
  kind: { group: string; version: string; kind: string };
  verbs: string[];
  shortNames: string[];
  categories: string[];
  storageVersionHash?: string;
}

/** One group with its versions, the preferred one first. */
export interface BuiltinGroup {
  group: string;
  versions: { version: string; groupPriorityMinimum?: number; versionPriority?: number }[];
}

interface ResourceEntry {
  name: string;
  singularName: string;
  namespaced: boolean;
  group?: string;
  version?: string;
  kind: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  storageVersionHash?: string;
}

const schema = schemaTableOf(schemaFile);
let resources: readonly BuiltinResource[] | undefined;

/** The schemas of all built-in types. */
export const builtinSchema = (): SchemaTable => schema;

/** Every group a default apiserver serves, in the order of `/apis`; the core group ('') is first. */
export const builtinGroups = (): readonly BuiltinGroup[] => resourceFile.groups;

/** Every resource and subresource a default apiserver serves, in the order discovery lists them. */
export function builtinResources(): readonly BuiltinResource[] {
  if (resources !== undefined) return resources;
  const all: BuiltinResource[] = [];
  for (const [apiVersion, entries] of Object.entries<ResourceEntry[]>(resourceFile.resources)) {
    for (const entry of entries) all.push(readEntry(parseApiVersion(apiVersion), entry));
  }
  resources = all;
  return all;
}

function readEntry({ group, version }: { group: string; version: string }, entry: ResourceEntry): BuiltinResource {
  const [resource = '', subresource = ''] = entry.name.split('/');
  return {
    group,
    version,
    resource,
    subresource,
    singularName: entry.singularName,
    namespaced: entry.namespaced,
    kind:
      entry.version === undefined
        ? { group, version, kind: entry.kind }
        : { group: entry.group ?? '', version: entry.version, kind: entry.kind },
    verbs: entry.verbs,
    shortNames: entry.shortNames ?? [],
    categories: entry.categories ?? [],
    ...(entry.storageVersionHash !== undefined && { storageVersionHash: entry.storageVersionHash }),
  };
}
