// What the server itself does to metadata on writes (k8s.io/apiserver/pkg/registry/rest): system fields, namespace, generated names,
// generation, duplicate owners.
import { semanticEqual } from '#api';
import { badRequest } from '#apimachinery/errors';
import { formatTime, type KubeObject, type ManagedFieldsEntry, type ObjectMeta, type UnknownObject } from '#apimachinery/meta';
import { sameJson } from './values.ts';
import type { WriteContext, ServedResource } from './types.ts';

const generatedNameLengthMax = 63;
const suffixLength = 5;

/** What a client may not set on a new object. */
export function wipeSystemFields(metadata: ObjectMeta): void {
  delete metadata.creationTimestamp;
  delete metadata.uid;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
}

export function fillSystemFields(metadata: ObjectMeta, context: WriteContext): void {
  metadata.creationTimestamp = formatTime(context.request.now);
  metadata.uid = context.settings.random.uuid();
}

/** The base is cut so that name and suffix fit 63 characters (names.SimpleNameGenerator). */
export const generatedName = (base: string, suffix: string): string =>
  base.slice(0, generatedNameLengthMax - suffixLength) + suffix;

/** Fills the namespace from the request, or refuses another one. */
export function ensureNamespace(metadata: ObjectMeta, context: WriteContext): void {
  const expected = context.resource.namespaced ? context.target.namespace : '';
  const given = metadata.namespace ?? '';
  if (given === '' && expected !== '') {
    metadata.namespace = expected;
    return;
  }
  if (given === expected) return;
  if (expected === '') {
    // Upstream tolerates a namespace on cluster-scoped objects and drops it.
    delete metadata.namespace;
    return;
  }
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** Name and namespace of a body against those of the URL. */
export function ensureName(metadata: ObjectMeta, context: WriteContext): void {
  const { name: given = '', namespace = '' } = metadata;
  const { name, namespace: expected } = context.target;
  if (given === '') throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (given !== name) throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  if (expected !== '' && namespace !== '' && namespace !== expected) {
    throw badRequest(`the namespace of the object (${namespace}) does not match the namespace on the URL (${expected})`);
  }
}

/** Removes owner references that are equal to another one, and warns the client. */
export function dedupOwners(object: KubeObject, context: WriteContext, afterMutation: boolean): void {
  const owners = object.metadata.ownerReferences;
  if (!owners || owners.length < 2) return;
  const kept: typeof owners = [];
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const owner of owners) {
    const text = JSON.stringify(owner);
    if (seen.has(text)) repeated.add(owner.uid);
    else kept.push(owner);
    seen.add(text);
  }
  if (kept.length === owners.length) return;
  object.metadata.ownerReferences = kept;
  const list = [...repeated].join(', ');
  context.request.notes.warn(
    afterMutation
      ? `.metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${list}`
      : `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${list}`,
  );
}

/** An empty list of managers in a request asks to forget them; the decoder drops empty lists, so it becomes the other way to ask. */
export function keepFieldsReset(object: UnknownObject, sent: { metadata?: { managedFields?: unknown } | null } | null): void {
  const given = sent?.metadata?.managedFields;
  if (Array.isArray(given) && given.length === 0) object.metadata.managedFields = [{} as ManagedFieldsEntry];
}

/** The part of an object whose change makes a new generation; undefined for kinds without a generation. */
function generationPart(resource: ServedResource, object: KubeObject): unknown {
  const { generation } = resource.definition;
  if (generation === false) return undefined;
  if (generation) return generation(object);
  if (!('spec' in object)) return undefined;
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...rest } = object as UnknownObject;
  return rest;
}

export function setGenerationOnCreate(resource: ServedResource, object: KubeObject): void {
  // Kinds without generations keep what the client wrote. Custom resources all have one.
  if (resource.definition.newWithoutGeneration) return;
  if (resource.custom || generationPart(resource, object) !== undefined) object.metadata.generation = 1;
}

export function setGenerationOnUpdate(resource: ServedResource, object: KubeObject, old: KubeObject): void {
  const before = old.metadata.generation;
  if (before === undefined) delete object.metadata.generation;
  else object.metadata.generation = before;
  const part = generationPart(resource, object);
  const same = resource.custom ? sameJson : semanticEqual;
  if (part !== undefined && !same(part, generationPart(resource, old))) object.metadata.generation = (before ?? 0) + 1;
}

/** Whether two lists of managers differ in nothing but times. */
export function sameManagers(
  now: readonly ManagedFieldsEntry[] | undefined,
  before: readonly ManagedFieldsEntry[] | undefined,
): boolean {
  if ((now?.length ?? 0) !== (before?.length ?? 0)) return false;
  return (now ?? []).every((entry, at) => {
    const { time: _, ...mine } = entry;
    const { time: __, ...theirs } = (before as ManagedFieldsEntry[])[at] as ManagedFieldsEntry;
    return sameJson(mine, theirs);
  });
}

/** Metadata with its fields in the order of the wire, in whatever order they were set. */
export function inWireOrder(metadata: KubeObject['metadata']): KubeObject['metadata'] {
  const { name, generateName, namespace, selfLink, uid, resourceVersion, generation, creationTimestamp, ...others } = metadata;
  const { deletionTimestamp, deletionGracePeriodSeconds, labels, annotations, ownerReferences, finalizers, ...rest } = others;
  const head = { name, generateName, namespace, selfLink, uid, resourceVersion, generation, creationTimestamp };
  const first = { ...head, deletionTimestamp, deletionGracePeriodSeconds, labels, annotations, ownerReferences, finalizers };
  return { ...(Object.fromEntries(Object.entries(first).filter(([, value]) => value !== undefined)) as typeof first), ...rest };
}
