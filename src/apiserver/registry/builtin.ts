// The built-in resources: facts from the generated table, behaviour from each kind's definition. A kind without a definition still has
// schema defaults, structural checks and the usual treatment of status and generation.
import { type BuiltinResource, type KindDefinition, type WriteStrategy } from '#api';
import { createFieldManager, type FieldManagerOptions } from '#apimachinery/managedfields';
import { apiVersionOf, type KubeObject, parseApiVersion, type UnknownObject } from '#apimachinery/meta';
import { applySchemaDefaults, normalize, type SchemaTable } from '#apimachinery/schema';
import { assignOwn } from '#utils';
import type { ResourceStorage } from '../storage/resource-storage.ts';
import type { Door, ServedResource, SubresourceInfo } from './generic/types.ts';

export interface BuiltinOptions {
  facts: readonly BuiltinResource[];
  schema: SchemaTable;
  definitions: readonly KindDefinition<KubeObject>[];
  /** The storage of a resource; versions and cohabiting groups share one. */
  storageOf(definition: KindDefinition<KubeObject>, facts: BuiltinResource): ResourceStorage;
}

const listVerbs = new Set(['list', 'watch']);

/** Serves the built-in resources that are stored, but not those that only ask or connect. */
export function builtinServed(options: BuiltinOptions): ServedResource[] {
  const stored = options.facts.filter(
    ({ subresource, verbs }) => subresource === '' && verbs.some((verb) => listVerbs.has(verb)) && verbs.includes('watch'),
  );
  return stored.map((facts) => served(options, facts));
}

function served(options: BuiltinOptions, facts: BuiltinResource): ServedResource {
  const { group, version, resource, kind } = facts;
  const definition = definitionFor(options, facts);
  const subresources = options.facts.filter(
    (other) => other.group === group && other.version === version && other.resource === resource && other.subresource !== '',
  );
  const typeName = typeNameOf(options.schema, kind.group, kind.version, kind.kind);
  const conversion =
    version === definition.version && group === definition.group
      ? undefined
      : definition.conversions?.[conversionKey(definition, group, version)];
  const storageType = typeNameOf(options.schema, definition.group, definition.version, definition.kind);
  const { schema } = options;
  const toStorage = (object: UnknownObject): UnknownObject =>
    conversion ? converted(conversion.toStorage(object), definition.group, definition.version, definition.kind) : object;
  const fromStorage = (object: UnknownObject): UnknownObject =>
    conversion ? normalize(schema, typeName, converted(conversion.fromStorage(object), group, version, kind.kind)) : object;
  return {
    group,
    version,
    resource,
    kind: kind.kind,
    listKind: `${kind.kind}List`,
    singularName: facts.singularName,
    namespaced: facts.namespaced,
    verbs: new Set(facts.verbs),
    shortNames: facts.shortNames,
    categories: facts.categories,
    ...(facts.storageVersionHash !== undefined && { storageVersionHash: facts.storageVersionHash }),
    subresources: new Map(
      subresources.map((sub): [string, SubresourceInfo] => [
        sub.subresource,
        { name: sub.subresource, kind: sub.kind, verbs: new Set(sub.verbs) },
      ]),
    ),
    storage: options.storageOf(definition, facts),
    storageVersion: definition.version,
    storageGroup: definition.group,
    definition,
    schema,
    typeName,
    doors: doorsOf(schema, typeName, definition, subresources, versionsOf(options, definition, facts)),
    hooks: [],
    custom: false,
    setDefaults(object) {
      applySchemaDefaults(schema, typeName, object);
      if (!conversion) return definition.defaults?.(object);
      // The client is taken to have stated what its version says after defaulting in the storage version.
      const internal = toStorage(object);
      definition.defaults?.(internal);
      replaceWith(object, fromStorage(internal));
    },
    toStorage,
    fromStorage,
    canonical(object) {
      // Upstream reads what it stored through defaulting: what preparing left open is filled in once more.
      definition.defaults?.(object);
      return normalize(schema, storageType, object);
    },
  };
}

function replaceWith(target: UnknownObject, source: UnknownObject): void {
  for (const key of Object.keys(target)) delete target[key];
  assignOwn(target, source);
}

/** Conversions are keyed by version, or by group and version where the group differs too. */
const conversionKey = (definition: KindDefinition<KubeObject>, group: string, version: string): string =>
  group === definition.group ? version : apiVersionOf(group, version);

const converted = (object: KubeObject, group: string, version: string, kind: string): UnknownObject =>
  ({ ...object, kind, apiVersion: apiVersionOf(group, version) }) as UnknownObject;

function typeNameOf(schema: SchemaTable, group: string, version: string, kind: string): string {
  const type = schema.kind(group, version, kind);
  if (!type) throw new Error(`no schema for ${apiVersionOf(group, version)} ${kind}`);
  return type.name;
}

/** The definition of what is served. A kind without a folder keeps what the usual strategy keeps: its status through the status door only. */
function definitionFor({ definitions, facts: all }: BuiltinOptions, facts: BuiltinResource): KindDefinition<KubeObject> {
  const { group, version, resource, kind } = facts;
  const found = definitions.find(
    (definition) =>
      definition.kind === kind.kind && (definition.group === group || definition.otherGroups?.includes(group) === true),
  );
  if (found) return found;
  const hasStatus = all.some(
    (one) => one.group === group && one.version === version && one.resource === resource && one.subresource === 'status',
  );
  return { group, version, kind: kind.kind, ...(hasStatus && withoutStatus) };
}

/** The versions of a kind that is served in several, each with the way there from any other: owners of fields may have written in another version. */
function versionsOf(
  { facts: all, schema }: BuiltinOptions,
  definition: KindDefinition<KubeObject>,
  { resource }: BuiltinResource,
): FieldManagerOptions['versions'] {
  const { conversions, group: storageGroup, version: storageVersion, kind, otherGroups = [] } = definition;
  if (conversions === undefined) return undefined;
  const conversionOf = (group: string, version: string) => conversions[conversionKey(definition, group, version)];
  const inStorage = (object: UnknownObject): UnknownObject => {
    const { group, version } = parseApiVersion(object.apiVersion ?? '');
    const stored = conversionOf(group, version)?.toStorage(object) ?? object;
    return converted(stored, storageGroup, storageVersion, kind);
  };
  const served = all.filter(
    (one) =>
      one.resource === resource && one.subresource === '' && (one.group === storageGroup || otherGroups.includes(one.group)),
  );
  return Object.fromEntries(
    served.map(({ group, version }) => {
      const typeName = typeNameOf(schema, group, version, kind);
      const convert = (object: UnknownObject): UnknownObject => {
        const stored = inStorage(object);
        const made = conversionOf(group, version)?.fromStorage(stored) ?? stored;
        return normalize(schema, typeName, converted(made, group, version, kind));
      };
      return [apiVersionOf(group, version), { typeName, convert }];
    }),
  );
}

function doorsOf(
  schema: SchemaTable,
  typeName: string,
  definition: KindDefinition<KubeObject>,
  subresources: readonly BuiltinResource[],
  versions: FieldManagerOptions['versions'],
): Map<string, Door> {
  const hasStatus = subresources.some(({ subresource }) => subresource === 'status');
  const door = (subresource: string, strategy: WriteStrategy<KubeObject>): [string, Door] => [
    subresource,
    {
      subresource,
      strategy,
      fieldManager: createFieldManager(schema, typeName, {
        ...(versions && { versions }),
        ...(strategy.resetFields && { resetFields: strategy.resetFields }),
      }),
      creates: subresource === '' || (subresource === 'status' && definition.allowCreateOnUpdate === true),
    },
  ];
  const doors = new Map([door('', definition)]);
  if (hasStatus) doors.set(...door('status', definition.status ?? onlyStatus));
  for (const [name, strategy] of Object.entries(definition.doors ?? {})) doors.set(...door(name, strategy));
  return doors;
}

const withoutStatus: WriteStrategy<KubeObject> = {
  prepareForCreate: (draft) => void delete (draft as UnknownObject)['status'],
  prepareForUpdate: (draft, old) => setOrDelete(draft as UnknownObject, 'status', (old as UnknownObject)['status']),
  resetFields: [['status']],
};

/** The default status door: everything but status and metadata stays as it is. */
export const onlyStatus: WriteStrategy<KubeObject> = {
  prepareForUpdate(draft, old) {
    const target = draft as UnknownObject;
    const source = old as UnknownObject;
    for (const key of new Set([...Object.keys(target), ...Object.keys(source)])) {
      if (key !== 'status' && key !== 'metadata') setOrDelete(target, key, source[key]);
    }
  },
  resetFields: [['spec']],
};

function setOrDelete(target: Record<string, unknown>, key: string, value: unknown): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}
