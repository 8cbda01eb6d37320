// Applies a kind's rules to one draft in upstream's order (k8s.io/apiserver/pkg/registry/rest, BeforeCreate and BeforeUpdate).
import type { KindContext, WriteStrategy } from '#api';
import { internalError, invalidObject } from '#apimachinery/errors';
import { type FieldError, root } from '#apimachinery/field';
import { type KubeObject, parseApiVersion, type UnknownObject } from '#apimachinery/meta';
import {
  isPathSegmentName,
  isPathSegmentPrefix,
  nameIsDNSSubdomain,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '#apimachinery/validation';
import { withoutNulls } from './values.ts';
import { ensureNamespace, setGenerationOnCreate, setGenerationOnUpdate } from './metadata.ts';
import { apiVersionText, type Door, type WriteContext, type ServedResource } from './types.ts';

const metadataPath = root('metadata');

/** What every name must satisfy, whatever its kind's own rule was when it was made. */
const pathSegment = (name: string, prefix: boolean): string[] => (prefix ? isPathSegmentPrefix(name) : isPathSegmentName(name));

const isStorageVersion = ({ group, version, storageGroup, storageVersion }: ServedResource): boolean =>
  group === storageGroup && version === storageVersion;

const kindContext = (context: WriteContext): KindContext => ({
  now: context.request.now,
  subresource: context.target.subresource,
  ...(!isStorageVersion(context.resource) && { requestVersion: apiVersionText(context.resource) }),
  settings: context.settings.kinds,
  user: context.request.user,
});

type Refuse = (errors: FieldError[]) => void;

/** How the object is refused: by the kind that it calls itself now, before the rules prepare it. Throws 500 for one that names no version. */
function refusalOf({ custom, storageGroup, definition }: ServedResource, object: UnknownObject): Refuse {
  if (!object.apiVersion) throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  const named = custom
    ? { group: parseApiVersion(object.apiVersion).group, kind: object.kind ?? '' }
    : { group: storageGroup, kind: definition.kind };
  return (errors) => {
    if (errors.length > 0) throw invalidObject(named, object.metadata.name ?? '', errors);
  };
}

/** Prepares and validates a new object (of the storage version), in place. `problems` are known of it already. */
export function beforeCreate(context: WriteContext, draft: UnknownObject, problems: readonly FieldError[]): void {
  const { resource } = context;
  const { definition } = resource;
  const rules = kindContext(context);
  const refuse = refusalOf(resource, draft);
  ensureNamespace(draft.metadata, context);
  setGenerationOnCreate(resource, draft);
  definition.prepareForCreate?.(draft, rules);
  const { validateName, validatesMetadata = true } = definition;
  const metadataErrors =
    validatesMetadata && resource.isOwn?.(draft) !== false
      ? validateObjectMeta(draft.metadata, resource.namespaced, validateName ?? nameIsDNSSubdomain, metadataPath)
      : [];
  const errors = definition.validate?.(draft, { ...rules, metadataErrors }) ?? [];
  refuse([...problems, ...metadataErrors, ...errors]);
  // The usual rule allows less than what holds for every name: only after another one there is something left to see.
  if (validateName || !validatesMetadata)
    refuse(validateObjectMeta(draft.metadata, resource.namespaced, pathSegment, metadataPath));
  for (const warning of definition.warnings?.(draft, undefined) ?? []) context.request.notes.warn(warning);
}

interface Change {
  door: Door;
  draft: UnknownObject;
  live: UnknownObject;
  /** What is known to be wrong with it already. */
  problems: readonly FieldError[];
}

/** Prepares and validates a change (of the storage version), in place. */
export function beforeUpdate(context: WriteContext, { door, draft, live, problems }: Change): void {
  const { resource } = context;
  const old = resource.custom ? live : withoutNulls(live);
  const strategy: WriteStrategy<KubeObject> = door.strategy;
  const rules = kindContext(context);
  const refuse = refusalOf(resource, draft);
  const { metadata } = draft;
  ensureNamespace(metadata, context);
  if (old.metadata.generation === undefined) delete metadata.generation;
  else metadata.generation = old.metadata.generation;
  strategy.prepareForUpdate?.(draft, old, rules);
  setGenerationOnUpdate(resource, draft, old);
  keepSystemFields(draft, old);
  const metadataErrors = [
    ...validateObjectMeta(draft.metadata, resource.namespaced, pathSegment, metadataPath),
    ...validateObjectMetaUpdate(draft.metadata, old.metadata, metadataPath),
  ];
  const errors = strategy.validateUpdate?.(draft, old, { ...rules, metadataErrors }) ?? [];
  refuse([...metadataErrors, ...problems, ...errors]);
  for (const warning of strategy.warnings?.(draft, old) ?? []) context.request.notes.warn(warning);
}

/** What an update can neither set nor remove. */
function keepSystemFields(draft: KubeObject, old: KubeObject): void {
  const { metadata } = draft;
  if (!metadata.uid && old.metadata.uid) metadata.uid = old.metadata.uid;
  if (old.metadata.creationTimestamp) metadata.creationTimestamp = old.metadata.creationTimestamp;
  if (old.metadata.deletionTimestamp) metadata.deletionTimestamp = old.metadata.deletionTimestamp;
  if (old.metadata.deletionGracePeriodSeconds !== undefined && metadata.deletionGracePeriodSeconds === undefined) {
    metadata.deletionGracePeriodSeconds = old.metadata.deletionGracePeriodSeconds;
  }
}
