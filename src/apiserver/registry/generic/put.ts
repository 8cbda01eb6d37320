// PUT of an object or of one of its subresources (k8s.io/apiserver/pkg/endpoints/handlers/update.go).
import { formatTime, type UnknownObject } from '#apimachinery/meta';
import { paced } from '#host';
import { deepCopy } from '#utils';
import { admissionOf, admit } from './admit.ts';
import { ensureNamespace, dedupOwners, ensureName } from './metadata.ts';
import { apiVersionText, type Door, type WriteContext } from './types.ts';
import { update, type UpdateResult } from './update.ts';

/** Replaces an object or makes it. `object` is of the request's version, has its defaults, and is nobody else's. */
export function put(context: WriteContext, door: Door, object: UnknownObject): Promise<UpdateResult> {
  const { resource } = context;
  ensureNamespace(object.metadata, context);
  ensureName(object.metadata, context);
  dedupOwners(object, context, false);
  const { uid } = object.metadata;
  return update(context, {
    door,
    mayCreate: resource.definition.allowCreateOnUpdate === true && door.creates,
    ...(uid && { uid }),
    async next(live) {
      const { rest } = context.settings;
      const draft = deepCopy(object);
      let pause = rest();
      if (pause) await pause;
      const recorded = await recordUpdate(context, door, live, draft);
      if ((pause = rest())) await pause;
      return admitUpdate(context, live, recorded);
    },
  });
}

/** The new object with its managers brought up to date, in the storage version. */
export async function recordUpdate(
  context: WriteContext,
  door: Door,
  live: UnknownObject | undefined,
  object: UnknownObject,
): Promise<UnknownObject> {
  const { resource } = context;
  if (context.manager === '') return resource.toStorage(object);
  // Nobody owns fields of what calls itself another kind. A door that changes the status alone takes it all the same.
  if (resource.isOwn?.(object) === false) return { ...object, metadata: withoutManagers(object.metadata) };
  const writer = {
    manager: context.manager,
    time: formatTime(context.request.now),
    apiVersion: apiVersionText(resource),
    ...(context.target.subresource && { subresource: context.target.subresource }),
  };
  const steps = live
    ? door.fieldManager.update(resource.fromStorage(live), object, writer)
    : door.fieldManager.create(object, writer);
  const recording = paced(steps, context.settings.rest);
  const recorded = recording instanceof Promise ? await recording : recording;
  return resource.toStorage({ ...recorded, metadata: { ...recorded.metadata } });
}

function withoutManagers({ managedFields: _, ...metadata }: UnknownObject['metadata']): UnknownObject['metadata'] {
  return metadata;
}

/** Mutating admission of a change; a new object counts as CREATE. */
export async function admitUpdate(
  context: WriteContext,
  live: UnknownObject | undefined,
  draft: UnknownObject,
): Promise<UnknownObject> {
  const request = admissionOf(
    context,
    live ? { operation: 'UPDATE', object: draft, oldObject: live } : { operation: 'CREATE', object: draft },
  );
  const admission = admit(context, request);
  if (admission) await admission;
  const admitted = (request.object ?? draft) as UnknownObject;
  dedupOwners(admitted, context, true);
  return admitted;
}
