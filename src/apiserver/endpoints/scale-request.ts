// The `scale` subresource of any kind: read, replaced or patched as an autoscaling/v1 Scale, which is a view of the object.
import { conflict, internalError, type StatusError } from '#apimachinery/errors';
import { atOnce, createFieldManager, type FieldManager } from '#apimachinery/managedfields';
import { formatTime, type UnknownObject } from '#apimachinery/meta';
import { decode, DecodeError, type SchemaTable } from '#apimachinery/schema';
import type { PatchType } from '#apimachinery/transport';
import { ensureName, ensureNamespace } from '../registry/generic/metadata.ts';
import {
  type PatchRequest,
  patchedBy,
  readApplied,
  refusedPatch,
  refuseUnversioned,
  strictProblems,
} from '../registry/generic/patch.ts';
import { asLibraryWrites, nameProblem } from '../registry/generic/patch-texts.ts';
import { scaleApiVersion, scaleOf, updateScale } from '../registry/generic/scale.ts';
import type { WriteContext, ServedResource } from '../registry/generic/types.ts';
import type { BodyTarget } from '../chain/incoming.ts';
import type { Outcome } from '../chain/outcome.ts';
import { bodyTarget, contextOf, get, patchBody, type ResourceCall, taken } from './resource-call.ts';
import { type WriteOptions, writeOptions } from './write-options.ts';

const scaleType = 'io.k8s.api.autoscaling.v1.Scale';

export async function scaleRequest(call: ResourceCall): Promise<Outcome> {
  const { resource, request } = call;
  const { verb } = request;
  if (verb === 'get') {
    const outcome = await get(call);
    if (outcome.is !== 'stored') return outcome;
    const context = contextOf(call, { dryRun: false, fieldManager: '', asSent: {} });
    checkReplicas(resource, outcome.stored.object);
    return { is: 'value', status: 200, resource, value: scaleOf(context, outcome.stored.object) };
  }
  const next = verb === 'update' ? await scaleFromPut(call) : await scaleFromPatch(call);
  const context = contextOf(call, next.options);
  next.check?.(context);
  const make = (current: UnknownObject): UnknownObject => {
    const wanted = next.make(current, context);
    ensureNamespace(wanted.metadata, context);
    ensureName(wanted.metadata, context);
    return wanted;
  };
  const stored = await updateScale(context, make, next.uid);
  return { is: 'value', status: 200, resource, value: scaleOf(context, resource.fromStorage(stored.object)) };
}

/** A custom resource may lack the number that its definition names. */
function checkReplicas({ custom, definition: { scale } }: ServedResource, object: UnknownObject): void {
  if (!custom || !scale?.specReplicasPath) return;
  if (scale.specReplicas(object) === undefined)
    throw internalError(`the spec replicas field ".${scale.specReplicasPath.join('.')}" does not exist`);
}

interface NextScale {
  options: WriteOptions;
  /** The uid that a client who sends a whole Scale believes the object has. */
  uid?: string | undefined;
  /** Before the object is looked for. */
  check?(context: WriteContext): void;
  /** The wanted Scale with its managers. */
  make(current: UnknownObject, context: WriteContext): UnknownObject;
}

const managers = new WeakMap<SchemaTable, ReturnType<typeof atOnce>>();

function managerOf({ resource: { schema } }: WriteContext): ReturnType<typeof atOnce> {
  const known = managers.get(schema) ?? atOnce(createFieldManager(schema, scaleType));
  managers.set(schema, known);
  return known;
}

const writerOf = ({ manager, request: { now } }: WriteContext): Parameters<FieldManager['create']>[1] => ({
  manager,
  time: formatTime(now),
  apiVersion: scaleApiVersion,
  subresource: 'scale',
});

const recorded = (context: WriteContext, current: UnknownObject, wanted: UnknownObject): UnknownObject =>
  managerOf(context).update(current, { ...wanted, metadata: { ...wanted.metadata } }, writerOf(context));

// Upstream reads the Scale of a custom resource by a scheme of its own, which knows nothing else.
const otherThanScale =
  'no kind is registered for the type v1.Scale in scheme "k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781"';

const scaleTarget = (resource: ServedResource): BodyTarget => {
  const { read: _, ...target } = bodyTarget(resource);
  const scale = { ...target, group: 'autoscaling', version: 'v1', kind: 'Scale', typeName: scaleType };
  return resource.custom ? { ...scale, unreadableText: otherThanScale } : scale;
};

async function scaleFromPut({ request, resource }: ResourceCall): Promise<NextScale> {
  await request.body.arrive();
  const options = writeOptions('UpdateOptions', request.options);
  const object = taken(
    request,
    options.fieldValidation,
    await request.body.decode(scaleTarget(resource), options.fieldValidation),
  );
  request.notes.audit?.requestObject(() => JSON.stringify(object), object.metadata);
  return {
    options,
    uid: object.metadata.uid,
    check(context) {
      ensureNamespace(object.metadata, context);
      ensureName(object.metadata, context);
    },
    make: (current, context) => recorded(context, current, object),
  };
}

async function scaleFromPatch(call: ResourceCall): Promise<NextScale> {
  const { schema } = call.resource;
  const { body, options } = await patchBody(call);
  const isApply = body.type === 'application/apply-patch+yaml';
  const request: PatchRequest = {
    type: body.type as PatchType,
    body: body.value,
    fieldValidation: options.fieldValidation,
    strictErrors: body.strictErrors,
    ...(options.force !== undefined && { force: options.force }),
  };
  if (!isApply)
    return { options, make: (current, context) => recorded(context, current, patched(context, schema, request, current)) };
  return {
    options,
    make(current, context) {
      const config = readApplied(context, request, { kind: 'Scale', apiVersion: scaleApiVersion });
      const writer = { ...writerOf(context), force: request.force ?? false };
      const applied = managerOf(context).apply(current, config, writer);
      if (applied.metadata.uid !== current.metadata.uid) throw conflict(context.resource, context.target.name, 'uid mismatch');
      return applied;
    },
  };
}

function patched(context: WriteContext, schema: SchemaTable, asked: PatchRequest, current: UnknownObject): UnknownObject {
  const { patched: result, body } = patchedBy(schema, scaleType, asked, current);
  const request = { ...asked, body };
  const isStrategic = request.type === 'application/strategic-merge-patch+json';
  try {
    // In the order in which upstream reads it.
    const text = isStrategic ? result : asLibraryWrites(result, current, request.body);
    if (!isStrategic) checkNames(context, request, text, (why) => refusedPatch(request, current, result, why));
    const { object, strictErrors } = decode(schema, scaleType, text, { strict: request.fieldValidation !== 'Ignore' });
    if (isStrategic) strictErrors.sort();
    strictProblems(context, request, strictErrors, (why) => refusedPatch(request, current, result, why));
    return object as UnknownObject;
  } catch (error) {
    if (error instanceof DecodeError) throw refusedPatch(request, current, result, error.message, error.mismatch);
    throw error;
  }
}

/** Refuses the result of a patch that calls itself something else than a Scale. That of a custom resource may leave its version out. */
function checkNames(context: WriteContext, request: PatchRequest, result: unknown, refuse: (why: string) => StatusError): void {
  if (typeof result !== 'object' || result === null) return;
  const { schema, custom } = context.resource;
  const isUnversioned = !(result as UnknownObject).apiVersion;
  if (isUnversioned && custom) return;
  const scale = { schema, group: 'autoscaling', version: 'v1', kind: 'Scale' };
  const problem = nameProblem(scale, result, () => '');
  if (problem !== undefined) throw refuse(problem);
  if (isUnversioned) refuseUnversioned(context, request, result, refuse);
}
