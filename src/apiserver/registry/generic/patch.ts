// PATCH (k8s.io/apiserver/pkg/endpoints/handlers/patch.go): the patch is applied to the newest state, again if another write came between.
import { badRequest, invalidObject, notFound, plainRefusal, StatusError, unsupportedMediaType } from '#apimachinery/errors';
import { root, invalid } from '#apimachinery/field';
import { formatTime, parseApiVersion, type UnknownObject } from '#apimachinery/meta';
import { jsonPatch, mergePatch, strategicMergePatch } from '#apimachinery/patch';
import { decode, DecodeError } from '#apimachinery/schema';
import type { PatchType } from '#apimachinery/transport';
import { dedupOwners, ensureName, ensureNamespace } from './metadata.ts';
import { admitUpdate, recordUpdate } from './put.ts';
import { apiVersionText, type Decoded, type Door, type RequestContext, type ServedResource } from './types.ts';
import { update, type UpdateResult } from './update.ts';
import { deepCopy } from './values.ts';

export interface PatchRequest {
  type: PatchType;
  /** The parsed patch. */
  body: unknown;
  force?: boolean;
  fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** Duplicate keys and the like, found while parsing. */
  strictErrors: string[];
}

export async function patch(context: RequestContext, door: Door, request: PatchRequest): Promise<UpdateResult> {
  const apply = request.type === 'application/apply-patch+yaml';
  const next = apply ? applying(context, door, request) : patching(context, door, request);
  return update(context, { door, mayCreate: apply && door.creates, next });
}

function patching(
  context: RequestContext,
  door: Door,
  request: PatchRequest,
): (live: UnknownObject | undefined) => Promise<UnknownObject> {
  const { resource } = context;
  return async (live) => {
    if (!live) throw notFound(resource, context.name);
    const current = resource.fromStorage(live);
    const patched = applyPatch(context, request, current);
    const object = readPatched(context, request, patched);
    ensureNamespace(object.metadata, context);
    ensureName(object.metadata, context);
    resource.setDefaults(object);
    dedupOwners(object, context, false);
    return admitUpdate(context, live, recordUpdate(context, door, live, object));
  };
}

function applyPatch(context: RequestContext, request: PatchRequest, current: UnknownObject): unknown {
  const { schema, typeName } = context.resource;
  if (request.type === 'application/json-patch+json') return jsonPatch(current, request.body);
  if (request.type === 'application/merge-patch+json') return mergePatch(current, request.body);
  if (context.resource.custom) {
    throw unsupportedMediaType(['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']);
  }
  return strategicMergePatch(schema, typeName, current, request.body);
}

/** The result as the resource's type: unknown fields and wrong types are the client's fault. */
function readPatched(context: RequestContext, request: PatchRequest, patched: unknown): UnknownObject {
  const read = decodePatched(context, request, patched);
  const strictErrors = [...request.strictErrors, ...read.strictErrors];
  if (strictErrors.length > 0 && request.fieldValidation === 'Strict')
    throw refusedPatch(request, `strict decoding error: ${strictErrors.join(', ')}`);
  if (request.fieldValidation === 'Warn') for (const problem of strictErrors) context.warn(problem);
  return read.object;
}

/** 422 without a name: upstream does not know what the result would have been. */
export const invalidPatch = (body: unknown, why: string): StatusError =>
  invalidObject({ group: '', kind: '' }, '', [invalid(root('patch'), JSON.stringify(body), why)]);

/** A strategic patch is shown as the map it was read into, and its type errors are those of upstream's converter. */
const refusedPatch = ({ type, body }: PatchRequest, why: string, mismatch?: DecodeError['mismatch']): StatusError => {
  if (type !== 'application/strategic-merge-patch+json') return invalidPatch(body, why);
  const text = mismatch === undefined ? why : conversionText(mismatch);
  return invalidObject({ group: '', kind: '' }, '', [invalid(root('patch'), goText(body), text)]);
};

const goKinds: Record<string, string> = { array: 'slice', object: 'map', number: 'int64', bool: 'bool', string: 'string' };

function conversionText({ value, goType }: NonNullable<DecodeError['mismatch']>): string {
  const from = goKinds[value.split(' ')[0] ?? ''] ?? value;
  if (goType.startsWith('[]')) return `cannot restore slice from ${from}`;
  if (goType.startsWith('map[')) return `cannot restore map from ${from}`;
  return goType.includes('.') ? `cannot restore struct from: ${from}` : `cannot convert ${from} to ${goType}`;
}

/** A JSON value as Go prints it with %v. */
function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (value === null || value === undefined) return '<nil>';
  if (typeof value !== 'object') return String(value as string | number | boolean);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, item]) => `${key}:${goText(item)}`).join(' ')}]`;
}

function decodePatched(
  { resource }: RequestContext,
  request: PatchRequest,
  patched: unknown,
): { object: UnknownObject; strictErrors: string[] } {
  const expected = apiVersionText(resource);
  if (typeof patched !== 'object' || patched === null || Array.isArray(patched))
    throw refusedPatch(request, 'the patch does not yield an object');
  const { kind = resource.kind, apiVersion = expected } = patched as UnknownObject;
  if (kind !== resource.kind || apiVersion !== expected) {
    throw refusedPatch(
      request,
      `no kind "${kind}" is registered for version "${apiVersion}", expected ${expected} ${resource.kind}`,
    );
  }
  try {
    const { object, strictErrors } = read(resource, patched, request.fieldValidation !== 'Ignore');
    const copy = deepCopy(object) as UnknownObject;
    copy.kind = kind;
    copy.apiVersion = apiVersion;
    copy.metadata ??= {};
    return { object: copy, strictErrors };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw refusedPatch(request, error.message, error.mismatch);
  }
}

function applying(
  context: RequestContext,
  door: Door,
  request: PatchRequest,
): (live: UnknownObject | undefined) => Promise<UnknownObject> {
  const { resource } = context;
  const config = readApplied(context, request);
  return async (live) => {
    if (!live && !door.creates) throw notFound(resource, context.name);
    const writer = {
      manager: context.manager,
      time: formatTime(context.now),
      apiVersion: apiVersionText(resource),
      ...(context.subresource && { subresource: context.subresource }),
      ...(request.force !== undefined && { force: request.force }),
    };
    const current = live && resource.fromStorage(live);
    const applied = typed(context, door.fieldManager.apply(current, config, writer));
    applied.metadata ??= {};
    ensureNamespace(applied.metadata, context);
    ensureName(applied.metadata, context);
    resource.setDefaults(applied);
    return admitUpdate(context, live, resource.toStorage(applied));
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What is applied goes to the field manager as written: it checks fields and types itself. */
function readApplied(context: RequestContext, request: PatchRequest): UnknownObject {
  const { resource } = context;
  const body = (request.body ?? {}) as UnknownObject;
  // Names that are no text count as absent.
  const [apiVersion, kind] = [textOf(body.apiVersion), textOf(body.kind)];
  const expected = apiVersionText(resource);
  if (kind !== resource.kind || apiVersion !== expected) {
    const { group, version } = parseApiVersion(apiVersion);
    throw badRequest(`invalid object type: ${group}/${version}, Kind=${kind}`);
  }
  if (request.fieldValidation === 'Strict' && request.strictErrors.length > 0) {
    throw badRequest(`error strict decoding YAML: ${request.strictErrors.join(', ')}`);
  }
  if (request.fieldValidation === 'Warn') for (const problem of request.strictErrors) context.warn(problem);
  return body.metadata ? body : { ...body, metadata: {} };
}

const read = (resource: ServedResource, value: unknown, strict: boolean): Decoded =>
  resource.read ? resource.read(value, strict) : (decode(resource.schema, resource.typeName, value, { strict }) as Decoded);

/** The result as the resource's type, private to this attempt. */
function typed({ resource }: RequestContext, applied: UnknownObject): UnknownObject {
  try {
    return deepCopy(read(resource, applied, false).object) as UnknownObject;
  } catch (error) {
    if (error instanceof DecodeError) throw plainRefusal(error.message);
    throw error;
  }
}
