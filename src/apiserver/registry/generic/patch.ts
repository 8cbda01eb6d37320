// PATCH (k8s.io/apiserver/pkg/endpoints/handlers/patch.go): the patch is applied to the newest state, again if another write came between.
import { badRequest, invalidObject, notFound, plainError, StatusError, unsupportedMediaType } from '#apimachinery/errors';
import { root, invalid } from '#apimachinery/field';
import { formatTime, type UnknownObject } from '#apimachinery/meta';
import { jsonPatch, mergePatch, strategicMergePatch } from '#apimachinery/patch';
import { decode, DecodeError } from '#apimachinery/schema';
import type { PatchType } from '#apimachinery/transport';
import { dedupOwners, ensureName, ensureNamespace } from './metadata.ts';
import { admitUpdate, recordUpdate } from './put.ts';
import { apiVersionText, type Door, type RequestContext } from './types.ts';
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
  const { resource } = context;
  const read = decodePatched(context, request, patched);
  const strictErrors = [...request.strictErrors, ...read.strictErrors];
  if (strictErrors.length > 0 && request.fieldValidation === 'Strict')
    throw invalidPatch(request.body, `strict decoding error: ${strictErrors.join(', ')}`);
  if (request.fieldValidation === 'Warn') for (const problem of strictErrors) context.warn(problem);
  return read.object;
}

/** 422 without a name: upstream does not know what the result would have been. */
export const invalidPatch = (body: unknown, why: string): StatusError =>
  invalidObject({ group: '', kind: '' }, '', [invalid(root('patch'), JSON.stringify(body), why)]);

function decodePatched(
  { resource }: RequestContext,
  request: PatchRequest,
  patched: unknown,
): { object: UnknownObject; strictErrors: string[] } {
  const expected = apiVersionText(resource);
  if (typeof patched !== 'object' || patched === null || Array.isArray(patched))
    throw invalidPatch(request.body, 'the patch does not yield an object');
  const { kind = resource.kind, apiVersion = expected } = patched as UnknownObject;
  if (kind !== resource.kind || apiVersion !== expected) {
    throw invalidPatch(
      request.body,
      `no kind "${kind}" is registered for version "${apiVersion}", expected ${expected} ${resource.kind}`,
    );
  }
  try {
    const { object, strictErrors } = decode(resource.schema, resource.typeName, patched, {
      strict: request.fieldValidation !== 'Ignore',
    });
    const copy = deepCopy(object) as UnknownObject;
    copy.kind = kind;
    copy.apiVersion = apiVersion;
    copy.metadata ??= {};
    return { object: copy, strictErrors };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw invalidPatch(request.body, error.message);
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
    const applied = deepCopy(door.fieldManager.apply(current, config, writer));
    if (!live) delete applied.metadata.uid;
    ensureNamespace(applied.metadata, context);
    resource.setDefaults(applied);
    return admitUpdate(context, live, resource.toStorage(applied));
  };
}

function readApplied(context: RequestContext, request: PatchRequest): UnknownObject {
  const { resource } = context;
  const body = request.body as UnknownObject;
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw badRequest('error decoding YAML: the body is not an object');
  const { apiVersion = '', kind = '' } = body;
  if (apiVersion === '' || kind === '') throw missingKind(apiVersion, kind);
  if (kind !== resource.kind || apiVersion !== apiVersionText(resource)) {
    throw badRequest(
      `the kind or API version in the request (${apiVersion}, Kind=${kind}) does not match the expected ${apiVersionText(resource)}, Kind=${resource.kind}`,
    );
  }
  const { object, strictErrors } = decodeApplied(context, request, body);
  if (request.fieldValidation === 'Warn') for (const problem of [...request.strictErrors, ...strictErrors]) context.warn(problem);
  if (body.metadata?.managedFields !== undefined && body.metadata.managedFields !== null)
    throw badRequest('metadata.managedFields must be nil');
  object.metadata ??= {};
  ensureName(object.metadata, context);
  ensureNamespace(object.metadata, context);
  return sparse(body, object) as UnknownObject;
}

const missingKind = (apiVersion: string, kind: string): StatusError =>
  badRequest(kind === '' ? "Object 'Kind' is missing" : `Object 'apiVersion' is missing in '${apiVersion}${kind}'`);

function decodeApplied(
  context: RequestContext,
  request: PatchRequest,
  body: UnknownObject,
): { object: UnknownObject; strictErrors: string[] } {
  const { resource } = context;
  try {
    const read = decode(resource.schema, resource.typeName, body, { strict: true });
    if (read.strictErrors.length > 0 && request.fieldValidation !== 'Warn' && request.fieldValidation !== 'Ignore')
      throw plainError(
        `failed to create typed patch object (${context.namespace}/${context.name}; ${apiVersionText(resource)}, Kind=${resource.kind}): ${read.strictErrors.join(', ')}`,
      );
    return read as { object: UnknownObject; strictErrors: string[] };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(error.message);
  }
}

/** The typed values of what the client wrote, without the zero values that decoding fills in. */
function sparse(written: unknown, typed: unknown): unknown {
  if (typeof written !== 'object' || written === null || Array.isArray(written)) return typed ?? written;
  if (typeof typed !== 'object' || typed === null || Array.isArray(typed)) return typed;
  const source = written as Record<string, unknown>;
  const values = typed as Record<string, unknown>;
  const kept: Record<string, unknown> = {};
  for (const key in values)
    if (key in source || key === 'metadata') kept[key] = key in source ? sparse(source[key], values[key]) : values[key];
  return kept;
}
