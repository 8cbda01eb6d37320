// PATCH (k8s.io/apiserver/pkg/endpoints/handlers/patch.go): the patch is applied to the newest state, again if another write came between.
import {
  badRequest,
  conflict,
  invalidObject,
  notFound,
  plainError,
  StatusError,
  unsupportedMediaType,
} from '#apimachinery/errors';
import { invalid, root } from '#apimachinery/field';
import { formatTime, parseApiVersion, type UnknownObject } from '#apimachinery/meta';
import { goEscaped } from '#apimachinery/codec';
import { jsonPatch, mergePatch, strategicMergePatch } from '#apimachinery/patch';
import { decode, DecodeError, type SchemaTable } from '#apimachinery/schema';
import type { PatchType } from '#apimachinery/transport';
import { paced } from '#host';
import { deepCopy, goPrint } from '#utils';
import { dedupOwners, ensureName, ensureNamespace, keepFieldsReset } from './metadata.ts';
import { admitUpdate, recordUpdate } from './put.ts';
import { appliedText, asLibraryWrites, convertedText, conversionText, nameProblem } from './patch-texts.ts';
import { apiVersionText, type Decoded, type Door, type WriteContext, type ServedResource } from './types.ts';
import { update, type UpdateResult } from './update.ts';

export interface PatchRequest {
  type: PatchType;
  /** The parsed patch. */
  body: unknown;
  force?: boolean;
  fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** Duplicate keys and the like, found while parsing. */
  strictErrors: string[];
}

export async function patch(context: WriteContext, door: Door, request: PatchRequest): Promise<UpdateResult> {
  const apply = request.type === 'application/apply-patch+yaml';
  const next = apply ? applying(context, door, request) : patching(context, door, request);
  return update(context, { door, mayCreate: apply && door.creates, next });
}

function patching(
  context: WriteContext,
  door: Door,
  request: PatchRequest,
): (live: UnknownObject | undefined) => Promise<UnknownObject> {
  const { resource } = context;
  return async (live) => {
    if (!live) throw notFound(resource, context.target.name);
    const current = resource.fromStorage(live);
    const { rest } = context.settings;
    const { patched, body } = applyPatch(context, request, current);
    let pause = rest();
    if (pause) await pause;
    const object = await readPatched(context, { ...request, body }, current, patched);
    if ((pause = rest())) await pause;
    ensureNamespace(object.metadata, context);
    ensureName(object.metadata, context);
    resource.setDefaults(object);
    dedupOwners(object, context, false);
    const recorded = await recordUpdate(context, door, live, object);
    if ((pause = rest())) await pause;
    return admitUpdate(context, live, recorded);
  };
}

function applyPatch(context: WriteContext, request: PatchRequest, current: UnknownObject): Patched {
  const { schema, typeName, custom } = context.resource;
  if (custom && isStrategic(request)) {
    throw unsupportedMediaType(['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']);
  }
  return patchedBy(schema, typeName, request, current);
}

interface Patched {
  patched: unknown;
  /** What messages show of the patch. */
  body: unknown;
}

/** What any patch but an apply makes of an object of the type. */
export function patchedBy(
  schema: SchemaTable,
  typeName: string,
  { type, body }: Pick<PatchRequest, 'type' | 'body'>,
  current: UnknownObject,
): Patched {
  if (type === 'application/json-patch+json') return { patched: jsonPatch(current, body), body };
  if (type === 'application/merge-patch+json') return { patched: mergePatch(current, body), body };
  const { object, left } = strategicMergePatch(schema, typeName, current, body);
  return { patched: object, body: left };
}

/** The result as the resource's type: unknown fields and wrong types are the client's fault. */
async function readPatched(
  context: WriteContext,
  request: PatchRequest,
  current: UnknownObject,
  patched: unknown,
): Promise<UnknownObject> {
  const refuse = refusing(context.resource, request, current, patched);
  const { rest } = context.settings;
  const read = decodePatched(context, request, current, patched);
  let pause = rest();
  if (pause) await pause;
  const own = read.strictErrors.length === 0 ? [] : strictlyRead(context.resource, request, current, patched);
  strictProblems(context, request, own, refuse);
  if ((pause = rest())) await pause;
  return privateCopy(context.resource, read.object, patched as Partial<UnknownObject>);
}

/** What decoding shares with the patch and with the stored object is copied. */
function privateCopy(resource: ServedResource, read: UnknownObject, patched: Partial<UnknownObject>): UnknownObject {
  const copy = deepCopy(read);
  // A custom resource keeps what it calls itself: the rules of its kind judge that, when all who change it have seen it.
  if (!resource.custom) Object.assign(copy, { kind: resource.kind, apiVersion: apiVersionText(resource) });
  copy.metadata ??= {};
  keepFieldsReset(copy, patched);
  return copy;
}

/** Refuses or warns of what strict reading of the patch and of its result (`own`) found. */
export function strictProblems(
  context: Pick<WriteContext, 'request'>,
  request: PatchRequest,
  own: readonly string[],
  refuse: (why: string) => StatusError,
): void {
  const strictErrors = [...request.strictErrors, ...own];
  if (strictErrors.length > 0 && request.fieldValidation === 'Strict')
    throw refuse(`strict decoding error: ${strictErrors.join(', ')}`);
  if (request.fieldValidation === 'Warn') for (const problem of strictErrors) context.request.notes.warn(problem);
}

/** What is unknown in the result, in the order upstream reads it. */
function strictlyRead(resource: ServedResource, request: PatchRequest, current: UnknownObject, patched: unknown): string[] {
  if (isStrategic(request)) return read(resource, patched, true).strictErrors.sort();
  return read(resource, asLibraryWrites(patched, current, request.body, resource.custom), true).strictErrors;
}

const isStrategic = ({ type }: PatchRequest): boolean => type === 'application/strategic-merge-patch+json';

const refusal = (shown: string, why: string): StatusError =>
  invalidObject({ group: '', kind: '' }, '', [invalid(root('patch'), shown, why)]);

/**
 * 422 without a name: upstream does not know what the result would have been. It shows the result as text; of a strategic patch the map that
 * it was read into, with the type errors of upstream's converter.
 */
export function refusedPatch(
  request: Pick<PatchRequest, 'type' | 'body'> & { sorted?: boolean },
  current: UnknownObject,
  patched: unknown,
  why: string,
  mismatch?: DecodeError['mismatch'],
): StatusError {
  const { type, body, sorted } = request;
  if (type !== 'application/strategic-merge-patch+json')
    return refusal(goEscaped(JSON.stringify(asLibraryWrites(patched, current, body, sorted))), why);
  return refusal(goPrint(body), mismatch === undefined ? convertedText(why) : conversionText(mismatch));
}

/** The error that upstream meets first: in the text that the library writes, or in the order of fields that its converter goes through. */
function firstError(
  resource: ServedResource,
  request: PatchRequest,
  current: UnknownObject,
  patched: object,
): DecodeError | undefined {
  try {
    if (isStrategic(request)) decode(resource.schema, resource.typeName, patched, { byField: true });
    else read(resource, asLibraryWrites(patched, current, request.body, resource.custom), false);
  } catch (error) {
    if (error instanceof DecodeError) return error;
    throw error;
  }
}

const refusing =
  ({ custom }: ServedResource, request: PatchRequest, current: UnknownObject, patched: unknown) =>
  (why: string, mismatch?: DecodeError['mismatch']): StatusError =>
    refusedPatch({ ...request, sorted: custom }, current, patched, why, mismatch);

/** Upstream reads what states no version as an object without fields, and goes on with that, which has no name. */
export function refuseUnversioned(
  context: Pick<WriteContext, 'request' | 'target'>,
  request: PatchRequest,
  written: object,
  refuse: (why: string) => StatusError,
): never {
  const fields = Object.keys(written).filter((name) => name !== 'kind' && name !== 'apiVersion');
  const unknown = fields.map((name) => `unknown field ${JSON.stringify(name)}`);
  strictProblems(context, request, request.fieldValidation === 'Ignore' ? [] : unknown, refuse);
  throw badRequest(`the name of the object (${context.target.name} based on URL) was undeterminable: name must be provided`);
}

function decodePatched(
  context: WriteContext,
  request: PatchRequest,
  current: UnknownObject,
  patched: unknown,
): { object: UnknownObject; strictErrors: string[] } {
  const { resource } = context;
  const refuse = refusing(resource, request, current, patched);
  if (typeof patched !== 'object' || patched === null || Array.isArray(patched))
    throw refuse('the patch does not yield an object');
  // A strategic patch is read into the type that the path names, whatever it calls itself.
  const shown = (): string => goEscaped(JSON.stringify(asLibraryWrites(patched, current, request.body, resource.custom)));
  const problem = isStrategic(request) ? undefined : nameProblem(resource, patched, shown);
  if (problem !== undefined) throw refuse(problem);
  try {
    const decoded = read(resource, patched, request.fieldValidation !== 'Ignore');
    if (!resource.custom && !isStrategic(request) && !(patched as UnknownObject).apiVersion)
      refuseUnversioned(context, request, asLibraryWrites(patched, current, request.body) as object, refuse);
    return decoded;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const first = firstError(resource, request, current, patched) ?? error;
    throw refuse(first.message, first.mismatch);
  }
}

function applying(
  context: WriteContext,
  door: Door,
  request: PatchRequest,
): (live: UnknownObject | undefined) => Promise<UnknownObject> {
  const { resource } = context;
  const config = readApplied(context, request, { kind: resource.kind, apiVersion: apiVersionText(resource) });
  return async (live) => {
    if (!live && !door.creates) throw notFound(resource, context.target.name);
    const uid = config.metadata?.uid;
    if (!live && uid) {
      const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(resource, context.target.name, why);
    }
    const writer = {
      manager: context.manager,
      time: formatTime(context.request.now),
      apiVersion: apiVersionText(resource),
      ...(context.target.subresource && { subresource: context.target.subresource }),
      ...(request.force !== undefined && { force: request.force }),
    };
    const current = live && resource.fromStorage(live);
    const { rest } = context.settings;
    const merged = await paced(door.fieldManager.apply(current, config, writer), rest);
    const pause = rest();
    if (pause) await pause;
    const applied = await typed(context, merged, config);
    applied.metadata ??= {};
    ensureNamespace(applied.metadata, context);
    ensureName(applied.metadata, context);
    resource.setDefaults(applied);
    return admitUpdate(context, live, resource.toStorage(applied));
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What is applied, which may have no metadata. It goes to the field manager as written: that checks fields and types itself. */
export function readApplied(
  context: Pick<WriteContext, 'request'>,
  request: PatchRequest,
  expected: { kind: string; apiVersion: string },
): UnknownObject {
  const body = (request.body ?? {}) as UnknownObject;
  // Names that are no text count as absent.
  const [apiVersion, kind] = [textOf(body.apiVersion), textOf(body.kind)];
  if (kind !== expected.kind || apiVersion !== expected.apiVersion) {
    const { group, version } = parseApiVersion(apiVersion);
    throw badRequest(`invalid object type: ${group}/${version}, Kind=${kind}`);
  }
  if (request.fieldValidation === 'Strict' && request.strictErrors.length > 0) {
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${yamlErrors(request.strictErrors)}`);
  }
  if (request.fieldValidation === 'Warn') for (const problem of request.strictErrors) context.request.notes.warn(problem);
  return body;
}

/** The errors as Go's YAML library lists them. */
const yamlErrors = (lines: readonly string[]): string =>
  ['yaml: unmarshal errors:', ...lines.map((line) => `  ${line}`)].join('\n');

/** The value as the resource's type: a custom resource as what it says it is. */
const read = (resource: ServedResource, value: unknown, strict: boolean): Decoded =>
  resource.read
    ? resource.read(value, strict, textOf((value as Partial<UnknownObject>).apiVersion))
    : (decode(resource.schema, resource.typeName, value, { strict }) as Decoded);

/** The result as the resource's type, private to this attempt. */
async function typed(
  { resource, settings }: WriteContext,
  applied: UnknownObject,
  config: UnknownObject,
): Promise<UnknownObject> {
  try {
    const { object } = resource.read
      ? resource.read(applied, false, undefined, 'kept')
      : (decode(resource.schema, resource.typeName, applied, { byField: true }) as Decoded);
    const pause = settings.rest();
    if (pause) await pause;
    return deepCopy(object);
  } catch (error) {
    if (error instanceof DecodeError) throw plainError(appliedText(resource, config.metadata ?? {}, error));
    throw error;
  }
}
