// PUT, PATCH and every other change of a stored object (k8s.io/apiserver/pkg/registry/generic/registry/store.go, Update): read, change,
// write if nobody wrote in between, else again.
import { alreadyExists, conflict, invalidObject, modifiedMessage, notFound } from '#apimachinery/errors';
import { invalid, root } from '#apimachinery/field';
import type { UnknownObject } from '#apimachinery/meta';
import { updateAttemptsMax } from '../../limits.ts';
import { WriteConflict } from '../../storage/resource-storage.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import { type AdmissionSubject, admissionOf, validateAdmission } from './admit.ts';
import { tryInsert } from './create.ts';
import { HookRun } from './hooks.ts';
import { sameManagers } from './metadata.ts';
import { beforeUpdate } from './rules.ts';
import type { Door, WriteContext } from './types.ts';
import { dropNulls, sameJson } from './values.ts';
import { checkVersionText } from './version-text.ts';

export interface UpdateRequest {
  door: Door;
  /** The new object (private, storage version, admitted) for what is stored now; undefined: nothing is stored. Runs again on a conflict. */
  next(live: UnknownObject | undefined): Promise<UnknownObject> | UnknownObject;
  /** Makes the object when it does not exist (apply, and kinds that allow it). */
  mayCreate: boolean;
  /** The uid the client believes the object has. */
  uid?: string;
  /** How validating admission sees an object where it is not shown whole (a Scale). */
  shown?(object: UnknownObject): Shown;
}

export interface Shown {
  kind: string;
  object: UnknownObject;
}

export interface UpdateResult {
  stored: StoredObject;
  created: boolean;
}

export async function update(context: WriteContext, request: UpdateRequest): Promise<UpdateResult> {
  const { resource } = context;
  const { name } = context.target;
  const key = resource.storage.keyOf(resource.namespaced ? context.target.namespace : '', name);
  const current = resource.storage.feed.current();
  if (current instanceof Promise) await current;
  let live = resource.storage.read(key);
  for (let attempt = 0; attempt < updateAttemptsMax; attempt++) {
    if (!live && !request.mayCreate) throw notFound(resource, name);
    if (live) checkUid(context, live, request.uid);
    const outcome = live ? await replace(context, request, live) : await insertNew(context, request);
    if (!(outcome instanceof WriteConflict)) {
      const stored = resource.versions ? await resource.versions.one(outcome) : outcome;
      return { stored, created: live === undefined };
    }
    live = outcome.newest;
  }
  throw conflict(resource, name, modifiedMessage);
}

function checkUid({ resource, target: { name } }: WriteContext, live: StoredObject, uid: string | undefined): void {
  const { uid: stored } = live.object.metadata;
  if (uid !== undefined && uid !== stored) throw uidConflict(resource, name, live.key, uid, stored);
}

/** What a client believes about the object's identity is checked by upstream's storage, whose error shows. */
function uidConflict(
  resource: WriteContext['resource'],
  name: string,
  key: string,
  wanted: string,
  found: string | undefined,
): Error {
  const why = `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found ?? ''}`;
  return conflict(
    resource,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
  );
}

async function insertNew(context: WriteContext, request: UpdateRequest): Promise<StoredObject | WriteConflict> {
  const draft = await request.next(undefined);
  checkVersionText(draft.metadata.resourceVersion);
  if (request.uid !== undefined) {
    const { resource } = context;
    const { name, namespace } = context.target;
    const key = resource.storage.keyOf(resource.namespaced ? namespace : '', name);
    throw uidConflict(resource, name, key, request.uid, undefined);
  }
  const stored = await tryInsert(context, draft, { byUpdate: true, seenAs: context.target.name });
  if (stored) return stored;
  // Taken meanwhile: go on as an update of what is there now.
  const { storage } = context.resource;
  const now = storage.read(storage.keyOf(context.resource.namespaced ? context.target.namespace : '', context.target.name));
  if (!now) throw alreadyExists(context.resource, context.target.name);
  return new WriteConflict(now);
}

async function replace(context: WriteContext, request: UpdateRequest, live: StoredObject): Promise<StoredObject | WriteConflict> {
  const { storage, versions } = context.resource;
  const { rest } = context.settings;
  const old = (versions ? await versions.one(live) : live).object;
  let pause = rest();
  if (pause) await pause;
  const draft = versions ? await versions.answering(() => request.next(old)) : await request.next(old);
  if ((pause = rest())) await pause;
  if (!context.resource.custom && !context.unchecked) dropNulls(draft);
  if ((pause = rest())) await pause;
  checkResourceVersion(context, draft, old);
  const hooks = new HookRun(context);
  try {
    if ((pause = hooks.check(draft, old))) await pause;
    if ((pause = hooks.beginUpdate(draft, old))) await pause;
    if (!context.unchecked) {
      if ((pause = hooks.judge(draft, old))) await pause;
      beforeUpdate(context, { door: request.door, draft, live: old, problems: hooks.problems });
    }
    if ((pause = rest())) await pause;
    if (draft.metadata.managedFields !== old.metadata.managedFields) keepManagerTimes(draft, old);
    if ((pause = rest())) await pause;
    const judged = validateAdmission(context, admissionOf(context, { operation: 'UPDATE', ...subjectOf(request, draft, old) }));
    if (judged) await judged;
    if (isReleased(context, draft, old)) return await removeReleased(context, hooks, draft, live);
    // What is stored in an old version is written in the new one, even when nothing else changes.
    const next = versions ? await versions.encode(draft) : draft;
    if (sameJson(withoutVersion(next), withoutVersion(live.object)) && !storage.isStale(live.key)) return live;
    if ((pause = rest())) await pause;
    const object = context.resource.canonical(next);
    if ((pause = rest())) await pause;
    context.request.cancellation.check();
    if (context.dryRun) return storage.unstored(live.key, object, live.revision);
    const outcome = await storage.update(live, object);
    if ((pause = rest())) await pause;
    if ((pause = hooks.finish(!(outcome instanceof WriteConflict)))) await pause;
    return outcome;
  } finally {
    if ((pause = hooks.finish(false))) await pause;
  }
}

function subjectOf(
  { shown }: UpdateRequest,
  object: UnknownObject,
  oldObject: UnknownObject,
): Omit<AdmissionSubject, 'operation'> {
  return shown ? { ...shown(object), oldObject: shown(oldObject).object } : { object, oldObject };
}

function checkResourceVersion({ resource, target: { name } }: WriteContext, draft: UnknownObject, old: UnknownObject): void {
  const given = draft.metadata.resourceVersion ?? '';
  const stored = old.metadata.resourceVersion ?? '';
  if (given === '' || given === '0') {
    if (resource.definition.allowUnconditionalUpdate === false) {
      const problem = invalid(root('metadata', 'resourceVersion'), 0, 'must be specified for an update');
      throw invalidObject({ group: resource.group, kind: resource.resource }, name, [problem]);
    }
    draft.metadata.resourceVersion = stored;
    return;
  }
  checkVersionText(given);
  if (given !== stored) throw conflict(resource, name, modifiedMessage);
}

/** When nothing but the managers' times changed, nothing changed. */
function keepManagerTimes(draft: UnknownObject, old: UnknownObject): void {
  if (!sameManagers(draft.metadata.managedFields, old.metadata.managedFields)) return;
  const before = { ...draft, metadata: { ...draft.metadata, managedFields: old.metadata.managedFields ?? [] } };
  if (!sameJson(withoutVersion(before as UnknownObject), withoutVersion(old))) return;
  if (old.metadata.managedFields) draft.metadata.managedFields = old.metadata.managedFields;
  else delete draft.metadata.managedFields;
}

const withoutVersion = (object: UnknownObject): UnknownObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: '' },
});

/** A terminating object without grace whose last finalizer this write removes goes with it. */
function isReleased({ resource }: WriteContext, draft: UnknownObject, old: UnknownObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = old.metadata;
  if ((draft.metadata.finalizers?.length ?? 0) > 0 || deletionTimestamp === undefined) return false;
  if ((resource.definition.deletion?.ownFinalizers?.(draft).length ?? 0) > 0) return false;
  return deletionGracePeriodSeconds === undefined || deletionGracePeriodSeconds === 0;
}

/** Answers the object of the request: clients expect one from a PUT. */
async function removeReleased(
  context: WriteContext,
  hooks: HookRun,
  draft: UnknownObject,
  live: StoredObject,
): Promise<StoredObject | WriteConflict> {
  const { storage } = context.resource;
  const answer = storage.unstored(live.key, context.resource.canonical(draft), live.revision);
  if (context.dryRun) return answer;
  const outcome = await storage.delete(live);
  if (outcome instanceof WriteConflict && outcome.newest) return outcome;
  await hooks.finish(true);
  await hooks.afterDelete(live.object);
  return answer;
}
