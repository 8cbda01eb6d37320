// The operations of a stored resource: one function from call to outcome for each verb (k8s.io/apiserver/pkg/endpoints/installer.go).
import { badRequest, methodNotSupported, notFound } from '#apimachinery/errors';
import type { UnknownObject } from '#apimachinery/meta';
import type { PatchType } from '#apimachinery/transport';
import { isPathSegmentName } from '#apimachinery/validation';
import { create } from '../registry/generic/create.ts';
import { remove } from '../registry/generic/delete.ts';
import { removeCollection } from '../registry/generic/delete-collection.ts';
import { list } from '../registry/generic/list.ts';
import { forName, parseListOptions } from '../registry/generic/list-options.ts';
import { patch } from '../registry/generic/patch.ts';
import { put } from '../registry/generic/put.ts';
import type { Door } from '../registry/generic/types.ts';
import { startWatch } from '../registry/generic/watch.ts';
import type { Outcome, ResourceCall } from './call.ts';
import { scaleRequest } from './scale-request.ts';
import { parseDeleteOptions, parseWriteOptions, type WriteOptions } from './write-options.ts';
import { bodyTarget, contextOf, type Executor, get, patchBody, warnAll } from './resource-request.ts';

export type { Executor } from './resource-request.ts';

export async function execute(executor: Executor, call: ResourceCall): Promise<Outcome> {
  checkName(call);
  if (call.subresource === 'scale') return scaleRequest(executor, call);
  switch (call.verb) {
    case 'get':
      return get(call);
    case 'list':
    case 'watch':
      return listOrWatch(call);
    case 'create':
      return post(executor, call);
    case 'update':
      return replace(executor, call);
    case 'patch':
      return applyPatch(executor, call);
    case 'delete':
      return removeOne(executor, call);
    case 'deletecollection':
      return removeMany(executor, call);
    default:
      throw methodNotSupported(call.resource, call.verb);
  }
}

function checkName({ name }: ResourceCall): void {
  const [problem] = name === '' ? [] : isPathSegmentName(name);
  if (problem) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problem}`);
}

function doorOf({ resource, subresource }: ResourceCall): Door {
  const door = resource.doors.get(subresource);
  if (!door) throw notFound(resource, subresource);
  return door;
}

async function listOrWatch(call: ResourceCall): Promise<Outcome> {
  const { resource, query } = call;
  const options = parseListOptions(resource, query, call.forceWatch || call.verb === 'watch');
  if (call.name !== '') forName(options, call.name);
  const namespace = resource.namespaced ? call.namespace : '';
  if (!options.watch) return { is: 'list', page: await list(resource, namespace, options) };
  return { is: 'watch', start: await startWatch(resource, namespace, options), options };
}

/** Fields in order, where the object is of the version that is stored. */
const asWritten = (resource: ResourceCall['resource'], object: UnknownObject): UnknownObject =>
  resource.version === resource.storageVersion && resource.group === resource.storageGroup ? resource.canonical(object) : object;

async function readObject(call: ResourceCall, options: WriteOptions): Promise<UnknownObject> {
  const { object, strictErrors } = await call.body.decode(bodyTarget(call.resource), options.fieldValidation);
  warnAll(call, options.fieldValidation, strictErrors);
  call.resource.setDefaults(object);
  call.audit?.requestObject(() => JSON.stringify(asWritten(call.resource, object)), object.metadata);
  return object;
}

async function post(executor: Executor, call: ResourceCall): Promise<Outcome> {
  await call.body.raw();
  const options = parseWriteOptions('CreateOptions', call.query);
  const object = await readObject(call, options);
  const stored = await create(contextOf(executor, call, options), object);
  return { is: 'stored', status: 201, stored };
}

async function replace(executor: Executor, call: ResourceCall): Promise<Outcome> {
  await call.body.raw();
  const options = parseWriteOptions('UpdateOptions', call.query);
  const object = await readObject(call, options);
  const { stored, created } = await put(contextOf(executor, call, options), doorOf(call), object);
  return { is: 'stored', status: created ? 201 : 200, stored };
}

async function applyPatch(executor: Executor, call: ResourceCall): Promise<Outcome> {
  const body = await patchBody(call);
  const options = parseWriteOptions('PatchOptions', call.query, body.type === 'application/apply-patch+yaml');
  const { stored, created } = await patch(contextOf(executor, call, options), doorOf(call), {
    type: body.type as PatchType,
    body: body.value,
    fieldValidation: options.fieldValidation,
    strictErrors: body.strictErrors,
    ...(options.force !== undefined && { force: options.force }),
  });
  return { is: 'stored', status: created ? 201 : 200, stored };
}

async function deleteOptionsOf({ body, query, resource, audit }: ResourceCall): Promise<ReturnType<typeof parseDeleteOptions>> {
  const raw = await body.raw();
  const options = parseDeleteOptions(raw, query, resource.schema);
  // Upstream shows them in its own version.
  if (raw.bytes.length > 0)
    audit?.requestObject(() => JSON.stringify({ ...options, kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/__internal' }));
  return options;
}

async function removeOne(executor: Executor, call: ResourceCall): Promise<Outcome> {
  const { resource } = call;
  const options = await deleteOptionsOf(call);
  const context = contextOf(executor, call, {
    dryRun: (options.dryRun?.length ?? 0) > 0,
    fieldManager: '',
    asSent: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...options },
  });
  const { stored, deleted, alreadyPending } = await remove(context, options);
  const status = !deleted && options.orphanDependents === false ? 202 : 200;
  const showsObject = resource.definition.deletion?.returnsObject === true || (!deleted && !alreadyPending);
  if (showsObject) return { is: 'stored', status, stored: resource.versions ? await resource.versions.one(stored) : stored };
  const { name = '', uid = '' } = stored.object.metadata;
  const details = { name, ...(resource.group && { group: resource.group }), kind: resource.resource, uid };
  return {
    is: 'value',
    status,
    value: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } as UnknownObject,
  };
}

async function removeMany(executor: Executor, call: ResourceCall): Promise<Outcome> {
  const { resource, query } = call;
  const selection = parseListOptions(resource, query, false);
  const options = await deleteOptionsOf(call);
  const context = contextOf(executor, call, {
    dryRun: (options.dryRun?.length ?? 0) > 0,
    fieldManager: '',
    asSent: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...options },
  });
  return { is: 'list', page: await removeCollection(context, options, selection) };
}
