// The way of an object from a request body to the store, as far as kinds decide it, without a server: decoding, defaults, preparation,
// validation (k8s.io/apiserver/pkg/registry/rest, BeforeCreate and BeforeUpdate).
import { builtinKinds, builtinSchema, type KindContext, type KindDefinition, type WriteStrategy } from '#api';
import { type FieldError, root } from '#apimachinery/field';
import { apiVersionOf, type KubeObject, parseApiVersion, type UnknownObject } from '#apimachinery/meta';
import { applySchemaDefaults, decode, normalize } from '#apimachinery/schema';
import { isPathSegmentName, nameIsDNSSubdomain, validateObjectMeta, validateObjectMetaUpdate } from '#apimachinery/validation';

export const now = Date.UTC(2026, 0, 2, 3, 4, 5);

export const definitionOf = (group: string, kind: string): KindDefinition<KubeObject> | undefined =>
  builtinKinds.find(
    (definition) => definition.kind === kind && (definition.group === group || (kind === 'Event' && group === 'events.k8s.io')),
  );

export function typeNameOf(apiVersion: string, kind: string): string {
  const { group, version } = parseApiVersion(apiVersion);
  const type = builtinSchema().kind(group, version, kind);
  if (type === undefined) throw new Error(`no type for ${apiVersion} ${kind}`);
  return type.name;
}

/** A body as the server reads it: typed, with defaults, in the storage version. */
export function read(definition: KindDefinition<KubeObject>, apiVersion: string, body: unknown): UnknownObject {
  const typeName = typeNameOf(apiVersion, definition.kind);
  const object = decode(builtinSchema(), typeName, structuredClone(body)).object as UnknownObject;
  object.metadata ??= {};
  applySchemaDefaults(builtinSchema(), typeName, object);
  const storage = apiVersionOf(definition.group, definition.version);
  if (apiVersion === storage) {
    definition.defaults?.(object);
    return object;
  }
  const { group, version } = parseApiVersion(apiVersion);
  const conversion = definition.conversions?.[group === definition.group ? version : apiVersion];
  if (conversion === undefined) throw new Error(`no conversion of ${apiVersion} ${definition.kind}`);
  return { ...conversion.toStorage(object), apiVersion: storage, kind: definition.kind } as UnknownObject;
}

/** The stored form in a served version. */
export function write(definition: KindDefinition<KubeObject>, apiVersion: string, object: UnknownObject): UnknownObject {
  const storage = apiVersionOf(definition.group, definition.version);
  const { group, version } = parseApiVersion(apiVersion);
  const conversion = definition.conversions?.[group === definition.group ? version : apiVersion];
  const converted =
    apiVersion === storage || !conversion
      ? object
      : ({ ...conversion.fromStorage(object), apiVersion, kind: definition.kind } as UnknownObject);
  return normalize(builtinSchema(), typeNameOf(apiVersion, definition.kind), {
    ...converted,
    apiVersion,
    kind: definition.kind,
  }) as UnknownObject;
}

const generationPart = (definition: KindDefinition<KubeObject>, object: UnknownObject): unknown => {
  if (definition.generation === false) return undefined;
  if (definition.generation) return definition.generation(object);
  if (!('spec' in object)) return undefined;
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...rest } = object;
  return rest;
};

export function create(
  definition: KindDefinition<KubeObject>,
  draft: UnknownObject,
  namespaced: boolean,
  context: KindContext,
): FieldError[] {
  if (generationPart(definition, draft) === undefined) delete draft.metadata.generation;
  else draft.metadata.generation = 1;
  definition.prepareForCreate?.(draft, context);
  return [
    // As the registry does for every kind, whatever its own rule: a name must fit into a path.
    ...validateObjectMeta(draft.metadata, namespaced, isPathSegmentName, root('metadata')),
    ...validateObjectMeta(draft.metadata, namespaced, definition.validateName ?? nameIsDNSSubdomain, root('metadata')),
    ...(definition.validate?.(draft, context) ?? []),
  ];
}

/** The door a subresource writes through; without one of its own `status` keeps everything but the status. */
export function doorOf(definition: KindDefinition<KubeObject>, subresource: string): WriteStrategy<KubeObject> | undefined {
  if (subresource === '') return definition;
  if (subresource !== 'status') return definition.doors?.[subresource];
  if (definition.status) return definition.status;
  return {
    prepareForUpdate(draft, old) {
      const { metadata, status } = draft as UnknownObject;
      Object.assign(draft, { ...old, metadata, status });
    },
  };
}

export function update(
  definition: KindDefinition<KubeObject>,
  door: WriteStrategy<KubeObject>,
  draft: UnknownObject,
  old: UnknownObject,
  context: KindContext,
): FieldError[] {
  if (old.metadata.generation === undefined) delete draft.metadata.generation;
  else draft.metadata.generation = old.metadata.generation;
  draft.metadata.resourceVersion ||= old.metadata.resourceVersion as string;
  door.prepareForUpdate?.(draft, old, context);
  const { metadata } = draft;
  const part = generationPart(definition, draft);
  if (part !== undefined && JSON.stringify(part) !== JSON.stringify(generationPart(definition, old)))
    metadata.generation = (old.metadata.generation ?? 0) + 1;
  metadata.uid ||= old.metadata.uid as string;
  for (const field of ['creationTimestamp', 'deletionTimestamp'] as const)
    if (old.metadata[field]) metadata[field] = old.metadata[field];
  if (old.metadata.deletionGracePeriodSeconds !== undefined)
    metadata.deletionGracePeriodSeconds ??= old.metadata.deletionGracePeriodSeconds;
  return [
    ...validateObjectMeta(metadata, metadata.namespace !== undefined, isPathSegmentName, root('metadata')),
    ...validateObjectMetaUpdate(metadata, old.metadata, root('metadata')),
    ...(door.validateUpdate?.(draft, old, context) ?? []),
  ];
}
