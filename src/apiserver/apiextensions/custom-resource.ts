// One version of a custom resource as a served resource.
import { createHash } from '../platform/crypto.ts';
import {
  applyDefaults,
  coerceEmbedded,
  declaresDefaults,
  dropNulls,
  isObject,
  prune,
  type ReadMetadata,
} from '#api/apiextensions/common';
import type { CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps } from '#api/apiextensions/v1';
import { createFieldManager, type FieldManagerOptions } from '#apimachinery/managedfields';
import { apiVersionOf, type KubeObject, parseApiVersion, type UnknownObject } from '#apimachinery/meta';
import { decode, type SchemaTable } from '#apimachinery/schema';
import type { KindDefinition, WriteStrategy } from '#api';
import { deepCopy } from '#utils';
import type { StorageHook } from '../registry/generic/storage-hook.ts';
import type { Door, ServedResource, SubresourceInfo } from '../registry/generic/types.ts';
import type { DiscoveredResource } from '../registry/resource-table.ts';
import type { ResourceStorage } from '../storage/resource-storage.ts';
import type { Converter } from './conversion/converter.ts';
import { Views, type ViewsOptions } from './conversion/views.ts';
import { customKind } from './custom-kind.ts';
import { deprecationOf } from './deprecation.ts';
import { customTypeTable } from './type-table.ts';

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const statusVerbs = ['get', 'patch', 'update'];
const metaType = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

const schemaOf = (version: CustomResourceDefinitionVersion): JSONSchemaProps => version.schema?.openAPIV3Schema ?? {};

function subresourcesOf(crd: CustomResourceDefinition, version: CustomResourceDefinitionVersion): SubresourceInfo[] {
  const own = { group: crd.spec.group, version: version.name, kind: crd.spec.names.kind };
  return [
    ...(version.subresources?.status ? [{ name: 'status', kind: own, verbs: new Set(statusVerbs) }] : []),
    ...(version.subresources?.scale ? [{ name: 'scale', kind: scaleKind, verbs: new Set(statusVerbs) }] : []),
  ];
}

/** Lets clients see that the version objects are stored in has changed (k8s.io/apiserver/pkg/endpoints/discovery, StorageVersionHash). */
const storageVersionHash = (group: string, version: string, kind: string): string =>
  createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, storageVersionHashBytes).toString('base64');
const storageVersionHashBytes = 8;

export function discoveredOf(crd: CustomResourceDefinition, version: CustomResourceDefinitionVersion): DiscoveredResource[] {
  const { names, group, scope, versions } = crd.spec;
  const stored = versions.find(({ storage, served }) => storage && served);
  const common = { namespaced: scope === 'Namespaced', shortNames: [], categories: [] };
  return [
    {
      ...common,
      name: names.plural,
      singularName: names.singular ?? '',
      kind: { group, version: version.name, kind: names.kind },
      verbs,
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      ...(stored && { storageVersionHash: storageVersionHash(group, stored.name, names.kind) }),
    },
    ...subresourcesOf(crd, version).map(({ name, kind }) => ({
      ...common,
      name: `${names.plural}/${name}`,
      singularName: '',
      kind,
      verbs: statusVerbs,
    })),
  ];
}

/**
 * Reads JSON as this resource: metadata is typed, the rest is pruned, and dropped fields count as unknown. In a version that the definition does not
 * have, no field is known and all are dropped. An object that names another group or kind is left as it is.
 */
function reader(
  builtin: SchemaTable,
  { group, names, versions }: CustomResourceDefinition['spec'],
  own: string,
): NonNullable<ServedResource['read']> {
  const schemas = new Map(versions.map((version) => [version.name, schemaOf(version)]));
  const metadataOf = (given: unknown, strict: boolean): ReturnType<ReadMetadata> => {
    // Upstream writes metadata as a map before it reads them: the first failure is the first by name.
    const { object, strictErrors } = decode(builtin, metaType, isObject(given) ? sortedMembers(given) : given, { strict });
    return { object: deepCopy(object), strictErrors };
  };
  return (value, strict, apiVersion = apiVersionOf(group, own), nulls = 'dropped') => {
    const named = parseApiVersion(apiVersion);
    const object = deepCopy(isObject(value) ? value : {});
    const metadata = metadataOf(object['metadata'] ?? {}, strict);
    object['metadata'] = metadata.object;
    const schema = named.group === group && object['kind'] === names.kind ? (schemas.get(named.version) ?? {}) : undefined;
    const inside = coerceEmbedded(schema, object, (given) => metadataOf(given, strict));
    const dropped = schema ? [...inside, ...prune(schema, object, true)].sort() : [];
    if (nulls === 'dropped') dropNulls(schema, object);
    const unknown = [
      ...metadata.strictErrors.map((text) => text.replace('"', '"metadata.')),
      ...dropped.map((path) => `unknown field ${JSON.stringify(path)}`),
    ].sort();
    return { object: object as UnknownObject, strictErrors: strict ? unknown : [] };
  };
}

const sortedMembers = (object: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));

function doorsOf(
  table: SchemaTable,
  typeName: string,
  definition: KindDefinition<KubeObject>,
  subresources: readonly SubresourceInfo[],
  versions: NonNullable<FieldManagerOptions['versions']>,
): Map<string, Door> {
  const door = (subresource: string, strategy: WriteStrategy<KubeObject>): [string, Door] => [
    subresource,
    {
      subresource,
      strategy,
      fieldManager: createFieldManager(table, typeName, {
        versions,
        ...(strategy.resetFields && { resetFields: strategy.resetFields }),
      }),
      creates: subresource === '',
    },
  ];
  return new Map([
    door('', definition),
    ...(subresources.some(({ name }) => name === 'status') ? [door('status', definition.status ?? {})] : []),
  ]);
}

/** What was converted is read by the schema of its version, like anything that comes from outside. */
function shaper({ spec: { group, versions } }: CustomResourceDefinition): ViewsOptions['shape'] {
  const schemas = new Map(versions.map((version) => [apiVersionOf(group, version.name), schemaOf(version)]));
  return (object, apiVersion, use) => {
    const schema = schemas.get(apiVersion);
    if (!schema) return;
    prune(schema, object, true);
    dropNulls(schema, object);
    if (use === 'read') applyDefaults(schema, object);
  };
}

/** The versions that owners of fields may have written in. */
const otherVersions = (
  { spec: { group, versions } }: CustomResourceDefinition,
  views: Views,
  typeNameIn: (name: string) => string,
): NonNullable<FieldManagerOptions['versions']> =>
  Object.fromEntries(
    versions.map(({ name }) => {
      const apiVersion = apiVersionOf(group, name);
      const convert = (object: UnknownObject): UnknownObject => views.known(object, apiVersion);
      return [apiVersion, { typeName: typeNameIn(name), convert }];
    }),
  );

/** Tells whether an object calls itself the kind of the definition, in one of its versions. */
const ownOf =
  ({ spec: { group, names, versions } }: CustomResourceDefinition): NonNullable<ServedResource['isOwn']> =>
  ({ kind, apiVersion }) =>
    kind === names.kind && versions.some(({ name }) => apiVersionOf(group, name) === apiVersion);

export function customResource(
  crd: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  storage: ResourceStorage,
  builtin: SchemaTable,
  convert: Converter,
): ServedResource {
  const { group, names, scope, versions } = crd.spec;
  const schema = schemaOf(version);
  // Owners of fields may have written in any of the versions.
  const typeNameIn = (name: string): string => `${group}.${name}.${names.kind}`;
  const table = versions.reduce((known, one) => customTypeTable(known, typeNameIn(one.name), schemaOf(one)), builtin);
  const definition = customKind(crd, version, schema);
  const subresources = subresourcesOf(crd, version);
  const storageVersion = versions.find(({ storage: stores }) => stores)?.name ?? version.name;
  const typeName = typeNameIn(version.name);
  const views =
    versions.length === 1 && !declaresDefaults(schema)
      ? undefined
      : new Views({
          apiVersion: apiVersionOf(group, version.name),
          storageApiVersion: apiVersionOf(group, storageVersion),
          convert,
          shape: shaper(crd),
        });
  const inOtherVersions = views && versions.length > 1 ? otherVersions(crd, views, typeNameIn) : {};
  const hooks: StorageHook[] = [];
  const deprecation = deprecationOf(crd, version);
  const isOwn = ownOf(crd);
  return {
    group,
    version: version.name,
    resource: names.plural,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    singularName: names.singular ?? '',
    namespaced: scope === 'Namespaced',
    verbs: new Set(verbs),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    subresources: new Map(subresources.map((info) => [info.name, info])),
    storage,
    storageVersion,
    storageGroup: group,
    definition,
    schema: table,
    typeName,
    doors: doorsOf(table, typeName, definition, subresources, inOtherVersions),
    hooks,
    custom: true,
    isOwn,
    ...(deprecation !== undefined && { deprecation }),
    ...(version.schema?.openAPIV3Schema && { published: version.schema.openAPIV3Schema }),
    read: reader(builtin, crd.spec, version.name),
    // Also what admission or an apply has made of an object is pruned. What calls itself something else is not of this schema.
    setDefaults: (object) => {
      if (!isOwn(object)) return;
      prune(schema, object, true);
      applyDefaults(schema, object);
    },
    // The registry works in this version; what is stored in another is converted by the views.
    toStorage: (object) => object,
    fromStorage: (object) => object,
    canonical: (object) => object,
    ...(views && { versions: views }),
  };
}
