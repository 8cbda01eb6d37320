// The `scale` subresource (autoscaling/v1 Scale): a narrow view of a workload through which only the number of replicas can be changed.
import { badRequest, conflict, invalidObject, notFound, plainError } from '#apimachinery/errors';
import { invalid, root } from '#apimachinery/field';
import { parentManagers, type ReplicasPaths, scaleManagers } from '#apimachinery/managedfields';
import type { UnknownObject } from '#apimachinery/meta';
import { deepCopy } from '#utils';
import type { StoredObject } from '../../storage/stored-object.ts';
import { admissionOf, admit } from './admit.ts';
import { mainDoor } from './create.ts';
import { apiVersionText, type WriteContext } from './types.ts';
import { update } from './update.ts';

export const scaleApiVersion = 'autoscaling/v1';

function mapping({ resource }: WriteContext): NonNullable<WriteContext['resource']['definition']['scale']> {
  const { scale } = resource.definition;
  if (!scale) throw plainError(`${resource.resource} cannot be scaled`);
  return scale;
}

export function scaleOf(context: WriteContext, object: UnknownObject): UnknownObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const scale = mapping(context);
  const replicas = scale.specReplicas(object) ?? 0;
  const selector = scale.selector(object);
  return {
    kind: 'Scale',
    apiVersion: scaleApiVersion,
    metadata: {
      ...(name && { name }),
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
      ...(creationTimestamp && { creationTimestamp }),
    },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: scale.statusReplicas(object), ...(selector && { selector }) },
  } as UnknownObject;
}

/** Versions in which workloads were served once: objects may still name them among their managers. */
const elderVersions: Readonly<Record<string, readonly string[]>> = { apps: ['apps/v1beta1', 'apps/v1beta2'] };

/** Where each version of the resource keeps the number of replicas. */
function replicasPaths(context: WriteContext): ReplicasPaths {
  const known = mapping(context).replicasPaths;
  if (known) return known;
  const { resource } = context;
  const versions = [apiVersionText(resource), ...(elderVersions[resource.group] ?? [])];
  return new Map(versions.map((version) => [version, ['spec', 'replicas']]));
}

/** Stands in the Scale for a number that a custom resource lacks: a write has to say one. */
const noReplicas = -2_147_483_648;

/** The Scale with its managers: those of the object that own the number of replicas. */
function scaleWithManagers(context: WriteContext, live: UnknownObject): UnknownObject {
  const scale = scaleOf(context, live);
  if (mapping(context).specReplicas(live) === undefined) scale['spec'] = { replicas: noReplicas };
  const managedFields = scaleManagers(live.metadata.managedFields, replicasPaths(context), scaleApiVersion);
  return managedFields ? { ...scale, metadata: { ...scale.metadata, managedFields } } : scale;
}

/** `next` makes the wanted Scale, with its managers, from the current one. `uid`: that of the object, where a client believes to know it. */
export async function updateScale(
  context: WriteContext,
  next: (current: UnknownObject) => UnknownObject,
  uid?: string,
): Promise<StoredObject> {
  const { resource, target } = context;
  const { name } = target;
  const scale = mapping(context);
  const { stored } = await update(context, {
    door: scaleDoor(context),
    mayCreate: false,
    ...(uid && { uid }),
    shown: (object) => ({ kind: 'Scale', object: scaleOf(context, resource.fromStorage(object)) }),
    async next(live) {
      if (!live) throw notFound(resource, name);
      const object = resource.fromStorage(live);
      const current = scaleWithManagers(context, object);
      const made = next(current);
      const { managedFields: sent } = made.metadata;
      const wanted = await admitScale(context, withoutManagers(current), withoutManagers(made));
      checkScale(context, wanted, current);
      const draft = deepCopy(object);
      scale.setSpecReplicas(draft, replicasOf(wanted));
      // A custom resource is written under its own version where the Scale names none, which others do not need.
      const { resourceVersion = '' } = wanted.metadata;
      if (resourceVersion !== '' || !resource.custom) draft.metadata.resourceVersion = resourceVersion;
      const paths = replicasPaths(context);
      const managedFields = parentManagers(object.metadata.managedFields, sent, paths, apiVersionText(resource));
      if (managedFields) draft.metadata.managedFields = managedFields;
      else delete draft.metadata.managedFields;
      return resource.toStorage(draft);
    },
  });
  return stored;
}

function withoutManagers(scale: UnknownObject): UnknownObject {
  const { managedFields: _, ...metadata } = scale.metadata;
  return { ...scale, metadata };
}

/** The rules of the main resource apply to what a new number of replicas makes of it. */
const scaleDoor = (context: WriteContext): ReturnType<typeof mainDoor> => mainDoor(context);

const replicasOf = (scale: UnknownObject): number => (scale['spec'] as { replicas?: number } | undefined)?.replicas ?? 0;

/** Mutating admission; validating admission comes when the object that the Scale changes has been judged. */
async function admitScale(context: WriteContext, current: UnknownObject, wanted: UnknownObject): Promise<UnknownObject> {
  const subject = { operation: 'UPDATE', object: wanted, oldObject: current, kind: 'Scale' } as const;
  const request = admissionOf(context, subject);
  await admit(context, request);
  return (request.object ?? wanted) as UnknownObject;
}

function checkScale({ resource, target: { name } }: WriteContext, wanted: UnknownObject, current: UnknownObject): void {
  const { metadata } = wanted;
  if ((metadata.name ?? '') !== '' && metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name ?? ''}) does not match the name on the URL (${name})`);
  }
  const replicas = replicasOf(wanted);
  const { specReplicasPath } = resource.definition.scale ?? {};
  if (replicas === noReplicas && specReplicasPath)
    throw badRequest(`the spec replicas field ".${specReplicasPath.join('.')}" cannot be empty`);
  // A custom resource has its own rules for them.
  if (replicas < 0 && !resource.custom) {
    const problem = invalid(root('spec', 'replicas'), replicas, 'must be greater than or equal to 0');
    throw invalidObject({ group: 'autoscaling', kind: 'Scale' }, name, [problem]);
  }
  const { uid } = metadata;
  if (!uid || uid === current.metadata.uid || resource.custom) return;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid ?? ''}`;
  throw conflict({ group: resource.group, resource: `${resource.resource}/scale` }, name, why);
}
