// Create-, Update-, Patch- and DeleteOptions from query and body (metav1 and its validation).
import { unregisteredText } from '../registry/generic/kind-problems.ts';
import { openProtobuf, readProtobuf } from '#apimachinery/codec';
import { badRequest, invalidObject } from '#apimachinery/errors';
import type { FieldError } from '#apimachinery/field';
import { decode, DecodeError, type SchemaTable } from '#apimachinery/schema';
import { validateDeleteOptions, validatePatchOptions, validateWriteOptions } from '#apimachinery/validation';
import type { DeleteOptions } from '../registry/generic/delete-options.ts';
import type { FieldValidation } from '../chain/incoming.ts';
import type { RequestOptions } from '../request/request.ts';
import type { WriteSettings } from '../registry/generic/types.ts';
import { checkIsObject, parseText, type RawBody } from './body.ts';

const none: readonly string[] = [];

export interface WriteOptions {
  dryRun: boolean;
  fieldManager: string;
  fieldValidation: FieldValidation;
  force: boolean | undefined;
  /** The options as they were sent, for admission. */
  asSent: Record<string, unknown>;
}

const metaGroup = 'meta.k8s.io';
const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1';

const refuse = (kind: string, errors: readonly FieldError[]): void => {
  if (errors.length > 0) throw invalidObject({ group: metaGroup, kind }, '', errors);
};

/** Checks the options of a write. Throws 422. */
export function writeOptions(
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  options: RequestOptions,
  isApply = false,
): WriteOptions {
  const { dryRun = none, fieldManager = '', fieldValidation = '' } = options;
  const force = kind === 'PatchOptions' ? options.force : undefined;
  const given = {
    ...(dryRun.length > 0 && { dryRun: [...dryRun] }),
    ...(fieldManager && { fieldManager }),
    ...(fieldValidation && { fieldValidation }),
    ...(force !== undefined && { force }),
  };
  refuse(kind, kind === 'PatchOptions' ? validatePatchOptions(given, isApply) : validateWriteOptions(given));
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    force,
    asSent: { kind, apiVersion: `${metaGroup}/v1`, ...given },
  };
}

/** `sent`: from the body; without them the query counts. Throws 400 and 422. */
export function checkDeleteOptions(
  sent: (DeleteOptions & Record<string, unknown>) | undefined,
  options: RequestOptions,
): DeleteOptions & Record<string, unknown> {
  const known = sent ?? deleteOptionsQuery(options);
  refuse('DeleteOptions', validateDeleteOptions(known));
  return known;
}

const ofEveryGroup = new Set([
  'Status',
  'APIVersions',
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'CreateOptions',
  'UpdateOptions',
]);
const ofMeta = new Set(['Table', 'TableOptions', 'PartialObjectMetadata', 'PartialObjectMetadataList']);

/** Only the meta group's kinds are known where options are read. */
function otherOptionsText(kind: string, apiVersion: string): string {
  if (ofEveryGroup.has(kind) || (apiVersion === `${metaGroup}/v1` && ofMeta.has(kind)))
    return `converting (v1.${kind}) to (v1.DeleteOptions): unknown conversion`;
  return unregisteredText(kind, apiVersion, 'pkg/runtime/scheme.go:111');
}

/** Every group registers DeleteOptions, so the group and version that a client names say nothing. */
export async function deleteOptionsBody(
  raw: RawBody,
  schema: SchemaTable,
  rest: WriteSettings['rest'],
): Promise<DeleteOptions & Record<string, unknown>> {
  const typeName = `${metaPackage}.DeleteOptions`;
  const checkKind = (kind: unknown, apiVersion: unknown): void => {
    if (typeof kind !== 'string' || kind === '' || kind === 'DeleteOptions') return;
    throw badRequest(
      otherOptionsText(kind, typeof apiVersion === 'string' && apiVersion !== '' ? apiVersion : `${metaGroup}/v1`),
    );
  };
  try {
    if (raw.encoding === 'protobuf') {
      const envelope = openProtobuf(raw.bytes);
      checkKind(envelope.kind, envelope.apiVersion);
      return readProtobuf(schema, typeName, envelope.raw) as DeleteOptions & Record<string, unknown>;
    }
    const { value: parsed } = await parseText(raw.bytes, raw.encoding === 'yaml' ? 'yaml' : 'json', false, rest);
    checkIsObject(parsed);
    const value = (parsed ?? {}) as Record<string, unknown>;
    checkKind(value['kind'], value['apiVersion']);
    return decode(schema, typeName, value).object as DeleteOptions & Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    // What the parser of YAML or of protobuf cannot read is refused in its own words; YAML that holds no object in the words for JSON.
    const isOwn = error.mismatch !== undefined || (raw.encoding !== 'json' && !error.message.startsWith('json: '));
    throw badRequest(isOwn ? error.message : `couldn't get version/kind; json parse error: ${error.message}`);
  }
}

function deleteOptionsQuery(options: RequestOptions): DeleteOptions & Record<string, unknown> {
  const { problems, gracePeriodSeconds, orphanDependents, propagationPolicy, dryRun = none, uid, resourceVersion } = options;
  if (problems?.['gracePeriodSeconds'] !== undefined) throw badRequest(problems['gracePeriodSeconds']);
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  return {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy: propagationPolicy as 'Orphan' }),
    ...(dryRun.length > 0 && { dryRun: [...dryRun] }),
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
  };
}
