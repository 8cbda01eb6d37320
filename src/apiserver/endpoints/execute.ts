// The operations of a stored resource: one function from call to outcome for each verb (k8s.io/apiserver/pkg/endpoints/installer.go).
import { badRequest, methodNotSupported, notFound } from '#apimachinery/errors';
import type { UnknownObject } from '#apimachinery/meta';
import type { PatchType } from '#apimachinery/transport';
import { isPathSegmentName } from '#apimachinery/validation';
import { create } from '../registry/generic/create.ts';
import { remove } from '../registry/generic/delete.ts';
import { removeCollection } from '../registry/generic/delete-collection.ts';
import { list } from '../registry/generic/list.ts';
import { forName, listOptions } from '../registry/generic/list-options.ts';
import { patch } from '../registry/generic/patch.ts';
import { put } from '../registry/generic/put.ts';
import type { DeleteOptions } from '../registry/generic/delete-options.ts';
import type { Door, WriteContext, ServedResource } from '../registry/generic/types.ts';
import { startWatch } from '../registry/generic/watch.ts';
import type { Outcome } from '../chain/outcome.ts';
import { boolOf } from '../request/uri.ts';
import { scaleRequest } from './scale-request.ts';
import { checkDeleteOptions, type WriteOptions, writeOptions } from './write-options.ts';
import { bodyTarget, contextOf, get, patchBody, type ResourceCall, taken } from './resource-call.ts';

export function execute(call: ResourceCall): Promise<Outcome> {
  const { verb, target } = call.request;
  checkName(target?.name ?? '');
  if (target?.subresource === 'scale') return scaleRequest(call);
  switch (verb) {
    case 'get':
      checkNoExport(call.request.options.export);
      return get(call);
    case 'list':
    case 'watch':
      return listOrWatch(call);
    case 'create':
      return post(call);
    case 'update':
      return replace(call);
    case 'patch':
      return applyPatch(call);
    case 'delete':
      return removeOne(call);
    case 'deletecollection':
      return removeMany(call);
    default:
      throw methodNotSupported(call.resource, verb);
  }
}

function checkNoExport(text = ''): void {
  if (text !== '' && boolOf(text)) throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
}

function checkName(name: string): void {
  const [problem] = name === '' ? [] : isPathSegmentName(name);
  if (problem) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problem}`);
}

function doorOf({ resource, request }: ResourceCall): Door {
  const subresource = request.target?.subresource ?? '';
  const door = resource.doors.get(subresource);
  if (!door) throw notFound(resource, subresource);
  return door;
}

/** Pauses of work that changes nothing, which ends at the next of them where nobody waits for it any more. */
const restOfReading =
  ({ request: { cancellation }, settings }: ResourceCall): ResourceCall['settings']['rest'] =>
  () =>
    settings.rest()?.then(() => cancellation.check());

async function listOrWatch(call: ResourceCall): Promise<Outcome> {
  const { resource, request } = call;
  const rest = restOfReading(call);
  const { name = '', namespace: named = '' } = request.target ?? {};
  const options = listOptions(resource, request.options);
  if (name !== '') forName(options, name);
  const namespace = resource.namespaced ? named : '';
  if (options.watch) return { is: 'watch', resource, start: await startWatch(resource, namespace, options, rest), options };
  return { is: 'list', resource, page: await list(resource, namespace, options, rest) };
}

/** Fields in order, where the object is of the version that is stored. */
const asWritten = (resource: ServedResource, object: UnknownObject): UnknownObject =>
  resource.version === resource.storageVersion && resource.group === resource.storageGroup ? resource.canonical(object) : object;

async function readObject(
  { request, resource, settings }: ResourceCall,
  { fieldValidation }: WriteOptions,
): Promise<UnknownObject> {
  let pause = settings.rest();
  if (pause) await pause;
  const decoded = await request.body.decode(bodyTarget(resource), fieldValidation);
  if ((pause = settings.rest())) await pause;
  const object = taken(request, fieldValidation, decoded);
  resource.setDefaults(object);
  request.notes.audit?.requestObject(() => JSON.stringify(asWritten(resource, object)), object.metadata);
  return object;
}

async function post(call: ResourceCall): Promise<Outcome> {
  const { request, resource } = call;
  request.body.checkType(resource.custom);
  await request.body.arrive();
  const options = writeOptions('CreateOptions', request.options);
  const object = await readObject(call, options);
  const context = contextOf(call, options);
  // A custom resource can be made at any path of its kind: what it is called is its own.
  const target = { ...context.target, name: '' };
  return { is: 'stored', status: 201, resource, stored: await create({ ...context, target }, object) };
}

async function replace(call: ResourceCall): Promise<Outcome> {
  const { request, resource } = call;
  await request.body.arrive();
  const options = writeOptions('UpdateOptions', request.options);
  const object = await readObject(call, options);
  const { stored, created } = await put(contextOf(call, options), doorOf(call), object);
  return { is: 'stored', status: created ? 201 : 200, resource, stored };
}

async function applyPatch(call: ResourceCall): Promise<Outcome> {
  const { resource } = call;
  const { body, options } = await patchBody(call);
  const { stored, created } = await patch(contextOf(call, options), doorOf(call), {
    type: body.type as PatchType,
    body: body.value,
    fieldValidation: options.fieldValidation,
    strictErrors: body.strictErrors,
    ...(options.force !== undefined && { force: options.force }),
  });
  return { is: 'stored', status: created ? 201 : 200, resource, stored };
}

/** From the body if there is one, else from the query. */
async function deleteOptionsOf({ request, resource }: ResourceCall): Promise<ReturnType<typeof checkDeleteOptions>> {
  const sent = await request.body.deleteOptions(resource.schema, resource.custom);
  const options = checkDeleteOptions(sent, request.options);
  // Upstream shows them in its own version.
  if (sent)
    request.notes.audit?.requestObject(() =>
      JSON.stringify({ ...options, kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/__internal' }),
    );
  return options;
}

const deletionContext = (call: ResourceCall, options: DeleteOptions): WriteContext =>
  contextOf(call, {
    dryRun: (options.dryRun?.length ?? 0) > 0,
    fieldManager: '',
    asSent: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...options },
  });

async function removeOne(call: ResourceCall): Promise<Outcome> {
  const { resource } = call;
  const options = await deleteOptionsOf(call);
  const { stored, deleted, alreadyPending } = await remove(deletionContext(call, options), options);
  const status = !deleted && options.orphanDependents === false ? 202 : 200;
  const showsObject = resource.definition.deletion?.returnsObject === true || (!deleted && !alreadyPending);
  if (showsObject)
    return { is: 'stored', status, resource, stored: resource.versions ? await resource.versions.one(stored) : stored };
  const { name = '', uid = '' } = stored.object.metadata;
  const details = { name, ...(resource.group && { group: resource.group }), kind: resource.resource, uid };
  const value = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } as UnknownObject;
  return { is: 'value', status, resource, value };
}

async function removeMany(call: ResourceCall): Promise<Outcome> {
  const { resource, request } = call;
  const selection = listOptions(resource, request.options);
  const options = await deleteOptionsOf(call);
  return { is: 'list', resource, page: await removeCollection(deletionContext(call, options), options, selection) };
}
