// POST of an object (k8s.io/apiserver/pkg/endpoints/handlers/create.go and registry/generic/registry/store.go, Create).
import { alreadyExists, generateNameConflict, plainError, type StatusError } from '#apimachinery/errors';
import { formatTime, type UnknownObject } from '#apimachinery/meta';
import { paced } from '#host';
import { deepCopy } from '#utils';
import { generateNameAttemptsMax } from '../../limits.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import { admissionOf, admit, validateAdmission } from './admit.ts';
import { HookRun } from './hooks.ts';
import { dedupOwners, ensureNamespace, fillSystemFields, generatedName, wipeSystemFields } from './metadata.ts';
import { beforeCreate } from './rules.ts';
import { apiVersionText, type Door, type WriteContext } from './types.ts';
import { dropNulls } from './values.ts';
import { whyNoVersion } from './version-text.ts';

/** Stores a new object. `object`: of the request's version, defaulted, private. */
export async function create(context: WriteContext, object: UnknownObject): Promise<StoredObject> {
  wipeSystemFields(object.metadata);
  ensureNamespace(object.metadata, context);
  dedupOwners(object, context, false);
  const { rest } = context.settings;
  let pause = rest();
  if (pause) await pause;
  const recorded = recordManager(context, mainDoor(context), object);
  const owned = recorded instanceof Promise ? await recorded : recorded;
  if ((pause = rest())) await pause;
  const draft = context.resource.toStorage(owned);
  const name = draft.metadata.name ?? '';
  const request = admissionOf(context, { operation: 'CREATE', object: draft, name: context.target.name || name });
  const admission = admit(context, request);
  if (admission) await admission;
  const admitted = (request.object ?? draft) as UnknownObject;
  dedupOwners(admitted, context, true);
  const { generateName = '', name: wanted = '' } = admitted.metadata;
  const stored =
    generateName === '' || wanted !== ''
      ? await insert(context, admitted, request.name)
      : await insertUnderNewName(context, admitted, generateName);
  const { versions } = context.resource;
  return versions ? versions.one(stored) : stored;
}

export function mainDoor(context: WriteContext): Door {
  const door = context.resource.doors.get('');
  if (!door) throw plainError(`no strategy for ${context.resource.resource}`);
  return door;
}

/** The object with its managed fields as seen before admission, with metadata of its own; '' as manager leaves them alone. */
function recordManager(context: WriteContext, door: Door, object: UnknownObject): UnknownObject | Promise<UnknownObject> {
  if (context.manager === '') return object;
  const writer = {
    manager: context.manager,
    time: formatTime(context.request.now),
    apiVersion: apiVersionText(context.resource),
  };
  return paced(door.fieldManager.create(object, writer), context.settings.rest);
}

/** Names made from generateName may be taken: then another one is tried. */
async function insertUnderNewName(context: WriteContext, admitted: UnknownObject, generateName: string): Promise<StoredObject> {
  for (let attempt = 1; ; attempt++) {
    const draft = attempt < generateNameAttemptsMax ? deepCopy(admitted) : admitted;
    draft.metadata.name = generatedName(generateName, context.settings.random.suffix());
    const pause = context.settings.rest();
    if (pause) await pause;
    const stored = await tryInsert(context, draft);
    if (stored) return stored;
    if (attempt >= generateNameAttemptsMax) throw generateNameConflict(context.resource, draft.metadata.name, 1);
  }
}

async function insert(context: WriteContext, draft: UnknownObject, seenAs: string): Promise<StoredObject> {
  const stored = await tryInsert(context, draft, { seenAs });
  if (stored) return stored;
  const { name = '', generateName = '' } = draft.metadata;
  if (generateName !== '') throw generateNameConflict(context.resource, name, 1);
  throw takenError(context, draft);
}

/** The error for a name that is taken. As upstream, it says so when the object in the way is being deleted. */
function takenError({ resource }: WriteContext, { metadata }: UnknownObject): StatusError {
  const { name = '', namespace = '' } = metadata;
  const error = alreadyExists(resource, name);
  const { storage } = resource;
  const terminating = storage.cache.get(storage.keyOf(namespace, name))?.object.metadata.deletionTimestamp !== undefined;
  if (terminating) error.status.message = `object is being deleted: ${error.status.message ?? ''}`;
  return error;
}

/**
 * Stores a new object; gives undefined where its name is taken. `byUpdate` says that an update or an apply makes it, whose resource version
 * says nothing; `seenAs` is the name that admission has seen so far, and goes on to see where a webhook gave another one.
 */
export async function tryInsert(
  context: WriteContext,
  draft: UnknownObject,
  { byUpdate = false, seenAs = '' }: { byUpdate?: boolean; seenAs?: string } = {},
): Promise<StoredObject | undefined> {
  const hooks = new HookRun(context);
  const { rest } = context.settings;
  try {
    if (!context.resource.custom) dropNulls(draft);
    let pause = rest();
    if (pause) await pause;
    fillSystemFields(draft.metadata, context);
    if ((pause = hooks.check(draft, undefined))) await pause;
    if ((pause = hooks.beginCreate(draft))) await pause;
    if ((pause = rest())) await pause;
    if ((pause = hooks.judge(draft, undefined))) await pause;
    beforeCreate(context, draft, hooks.problems);
    if ((pause = rest())) await pause;
    const request = admissionOf(context, { operation: 'CREATE', object: draft, name: seenAs || (draft.metadata.name ?? '') });
    if ((pause = validateAdmission(context, request))) await pause;
    if ((pause = rest())) await pause;
    const stored = await commit(context, draft, byUpdate);
    if ((pause = rest())) await pause;
    if ((pause = hooks.finish(stored !== undefined && !context.dryRun))) await pause;
    return stored;
  } finally {
    const pause = hooks.finish(false);
    if (pause) await pause;
  }
}

async function commit(context: WriteContext, draft: UnknownObject, byUpdate: boolean): Promise<StoredObject | undefined> {
  const { storage, versions } = context.resource;
  const key = storage.keyOf(draft.metadata.namespace ?? '', draft.metadata.name ?? '');
  const object = context.resource.canonical(versions ? await versions.encode(draft) : draft);
  const pause = context.settings.rest();
  if (pause) await pause;
  context.request.cancellation.check();
  const given = object.metadata.resourceVersion ?? '';
  if (context.dryRun) return storage.read(key) ? undefined : storage.notMade(key, object);
  // Upstream's store says so, when all others have judged the object; what is no number it passes over.
  if (whyNoVersion(given) === undefined && Number(given) > 0 && !byUpdate)
    throw plainError('resourceVersion should not be set on objects to be created');
  delete object.metadata.resourceVersion;
  return storage.create(key, object);
}
