// DELETE of one object (k8s.io/apiserver/pkg/registry/generic/registry/store.go, Delete): at once, with grace, or held by finalizers.
import { conflict, modifiedMessage, notFound } from '#apimachinery/errors';
import { afterSeconds, formatTime, type KubeObject, type UnknownObject } from '#apimachinery/meta';
import { updateAttemptsMax } from '../../limits.ts';
import { WriteConflict } from '../../storage/resource-storage.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import { admissionOf, admit, validateAdmission } from './admit.ts';
import type { DeleteOptions } from './delete-options.ts';
import { deletionFinalizers } from './finalizers.ts';
import { HookRun } from './hooks.ts';
import { inWireOrder } from './metadata.ts';
import type { WriteContext } from './types.ts';

export interface DeleteResult {
  /** The last state; at the revision of the deletion when it is gone. */
  stored: StoredObject;
  /** Gone now, rather than marked as going. */
  deleted: boolean;
  /** A delete that only repeated what is going on already. */
  alreadyPending: boolean;
}

/** What one DELETE does to the object it found. */
type Step =
  | { do: 'remove' }
  /** `pending`: a grace at least as short is running already. */
  | { do: 'nothing'; pending: boolean }
  /** `thenRemove`: the grace is zero, so the object goes right after it was marked. */
  | { do: 'mark'; object: UnknownObject; thenRemove: boolean };

/** What happens to dependents when nobody says, where that surprises. */
export function warnOfPropagation({ resource, request }: WriteContext, options: DeleteOptions): void {
  const warning = resource.definition.deletion?.defaultPropagationWarning;
  if (warning !== undefined && options.propagationPolicy === undefined && options.orphanDependents === undefined)
    request.notes.warn(warning);
}

/** Deletes one object. `inCollection`: admission sees no name, as upstream's does for each object of a collection. */
export async function remove(context: WriteContext, options: DeleteOptions, inCollection = false): Promise<DeleteResult> {
  const { resource, target } = context;
  const { name } = target;
  const { storage } = resource;
  if (!inCollection) warnOfPropagation(context, options);
  await storage.feed.current();
  let live = storage.read(storage.keyOf(resource.namespaced ? context.target.namespace : '', name));
  for (let attempt = 0; attempt < updateAttemptsMax; attempt++) {
    if (!live) throw notFound(resource, name);
    checkPreconditions(context, live.object, options);
    const grace = admittedGrace(context, live.object, options);
    if (grace !== 'pending')
      await admitDelete(
        grace === undefined ? context : { ...context, options: { ...context.options, gracePeriodSeconds: grace } },
        (resource.versions ? await resource.versions.one(live) : live).object,
        inCollection ? '' : (live.object.metadata.name ?? context.target.name),
      );
    const outcome = await take(context, live, decide(context, live.object, options));
    if (!(outcome instanceof WriteConflict)) return outcome;
    live = outcome.newest;
  }
  throw conflict(resource, name, modifiedMessage);
}

/** The grace period that admission sees, which the object will have. 'pending': the object is being deleted already, and admission is not asked. */
function admittedGrace(context: WriteContext, live: UnknownObject, options: DeleteOptions): number | 'pending' | undefined {
  const { deletion } = context.resource.definition;
  const asked = options.gracePeriodSeconds;
  const own = asked !== undefined && asked < 0 ? 1 : asked;
  if ((deletion?.ownFinalizers?.(live).length ?? 0) > 0) return own;
  const grace = gracefulStep(context, live, options);
  if (grace === undefined || grace === 'pending') return grace ?? own;
  return live.metadata.deletionTimestamp === undefined ? grace.seconds : own;
}

async function admitDelete(context: WriteContext, old: UnknownObject, name: string): Promise<void> {
  const request = admissionOf(context, { operation: 'DELETE', oldObject: old, name });
  await admit(context, request);
  await validateAdmission(context, request);
}

function checkPreconditions(context: WriteContext, object: KubeObject, { preconditions }: DeleteOptions): void {
  const { uid = '', resourceVersion = '', name = '' } = object.metadata;
  const { storageGroup, definition } = context.resource;
  if (definition.deletion?.ownFinalizers) return checkOwnPreconditions(context, object, preconditions);
  // Upstream names the kind here, not the resource.
  const about = { group: storageGroup, resource: definition.kind };
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw conflict(about, name, why);
  }
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    throw conflict(about, name, why);
  }
}

/** Kinds with finalizers of their own compare by themselves, and in other words. */
function checkOwnPreconditions(
  { resource }: WriteContext,
  { metadata }: KubeObject,
  preconditions: DeleteOptions['preconditions'],
): void {
  const differs = (what: string, wanted: string | undefined, has = ''): void => {
    if (wanted === undefined || wanted === has) return;
    const why = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${has}`;
    throw conflict(resource, metadata.name ?? '', why);
  };
  differs('UID', preconditions?.uid, metadata.uid);
  differs('ResourceVersion', preconditions?.resourceVersion, metadata.resourceVersion);
}

function decide(context: WriteContext, live: UnknownObject, options: DeleteOptions): Step {
  const { deletion } = context.resource.definition;
  if ((deletion?.ownFinalizers?.(live).length ?? 0) > 0) return ownStep(context, live, options);
  const grace = gracefulStep(context, live, options);
  if (grace === 'pending') return { do: 'nothing', pending: true };
  const finalizers = deletionFinalizers(context.resource, live, options);
  const held = (finalizers ?? live.metadata.finalizers ?? []).length > 0;
  if (grace !== undefined) {
    const object = withMetadata(live, { ...grace.metadata, ...(finalizers && { finalizers }) });
    return { do: 'mark', object, thenRemove: !held && grace.seconds === 0 };
  }
  if (!held) return { do: 'remove' };
  return { do: 'mark', object: markedForDeletion(context, live, finalizers), thenRemove: false };
}

/** Held by finalizers of the kind's own: marked once, without a grace period. */
function ownStep(context: WriteContext, live: UnknownObject, options: DeleteOptions): Step {
  if (live.metadata.deletionTimestamp !== undefined) return { do: 'nothing', pending: false };
  const { deletion } = context.resource.definition;
  const finalizers = deletion?.ignoresPropagation ? undefined : deletionFinalizers(context.resource, live, options);
  const object = withMetadata(live, { ...(finalizers && { finalizers }), deletionTimestamp: formatTime(context.request.now) });
  deletion?.markTerminating?.(object);
  object.metadata = inWireOrder(object.metadata);
  return { do: 'mark', object, thenRemove: false };
}

/** The step of a graceful deletion that is next; undefined for a kind or object without grace, 'pending' while a grace at least as short is running. */
function gracefulStep(
  context: WriteContext,
  live: UnknownObject,
  options: DeleteOptions,
): { metadata: Partial<KubeObject['metadata']>; seconds: number } | 'pending' | undefined {
  const rule = context.resource.definition.deletion?.gracePeriodSeconds;
  if (!rule) return undefined;
  const { deletionTimestamp, deletionGracePeriodSeconds: running, generation } = live.metadata;
  const requested =
    options.gracePeriodSeconds === undefined ? undefined : options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds;
  if (deletionTimestamp !== undefined) {
    if (running === undefined || running === 0) return undefined;
    if (requested === undefined || requested >= running) return 'pending';
    return shortened(context.request.now, deletionTimestamp, running, requested);
  }
  const seconds = rule(live, requested);
  if (seconds === undefined) return undefined;
  const metadata = {
    deletionTimestamp: formatTime(afterSeconds(context.request.now, seconds)),
    deletionGracePeriodSeconds: seconds,
    ...(generation && { generation: generation + 1 }),
  };
  return { metadata, seconds };
}

function shortened(
  now: number,
  deletionTimestamp: string,
  running: number,
  requested: number,
): { metadata: Partial<KubeObject['metadata']>; seconds: number } {
  const at = afterSeconds(afterSeconds(Date.parse(deletionTimestamp), -running), requested);
  const past = at < now;
  const seconds = past && requested !== 0 ? 1 : requested;
  return { metadata: { deletionTimestamp: formatTime(past ? now : at), deletionGracePeriodSeconds: seconds }, seconds };
}

/** Held by finalizers without grace: the timestamp says it is going, zero seconds that only finalizers hold it. */
function markedForDeletion(context: WriteContext, live: UnknownObject, finalizers: string[] | undefined): UnknownObject {
  const { deletionTimestamp, generation } = live.metadata;
  const going = deletionTimestamp !== undefined && Date.parse(deletionTimestamp) <= context.request.now;
  return withMetadata(live, {
    ...(finalizers && { finalizers }),
    ...(deletionTimestamp === undefined && generation && { generation: generation + 1 }),
    deletionTimestamp: going ? deletionTimestamp : formatTime(context.request.now),
    deletionGracePeriodSeconds: 0,
  });
}

function withMetadata(live: UnknownObject, change: Partial<KubeObject['metadata']>): UnknownObject {
  const metadata = inWireOrder({ ...live.metadata, ...change });
  if (metadata.finalizers?.length === 0) delete metadata.finalizers;
  return { ...live, metadata };
}

async function take(context: WriteContext, live: StoredObject, step: Step): Promise<DeleteResult | WriteConflict> {
  const { storage } = context.resource;
  if (step.do === 'nothing') return { stored: live, deleted: false, alreadyPending: step.pending };
  context.request.cancellation.check();
  if (step.do === 'remove') return removeNow(context, live);
  if (context.dryRun)
    return { stored: storage.unstored(live.key, step.object, live.revision), deleted: step.thenRemove, alreadyPending: false };
  let pause = context.settings.rest();
  if (pause) await pause;
  const marked = await storage.update(live, step.object);
  if ((pause = context.settings.rest())) await pause;
  if (marked instanceof WriteConflict) return marked;
  if (!step.thenRemove) return { stored: marked, deleted: false, alreadyPending: false };
  const gone = await removeNow(context, marked);
  // It went meanwhile, because somebody who saw the mark was faster: this request has what it wanted (kubernetes/kubernetes#19403).
  const isGone = gone instanceof WriteConflict && !gone.newest;
  return isGone ? { stored: marked, deleted: true, alreadyPending: false } : gone;
}

async function removeNow(context: WriteContext, live: StoredObject): Promise<DeleteResult | WriteConflict> {
  if (context.dryRun) return { stored: live, deleted: true, alreadyPending: false };
  const gone = await context.resource.storage.delete(live);
  if (gone instanceof WriteConflict) return gone;
  await new HookRun(context).afterDelete(live.object);
  return { stored: gone, deleted: true, alreadyPending: false };
}
