// LIST: from memory where memory has the answer, from the store's history where the past is asked for
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list).
import { badRequest, expired, expiredMessages, StatusError, tooLargeResourceVersion } from '#apimachinery/errors';
import { conversionObjectsMax } from '../../limits.ts';
import { isFutureRevision, isHistoryGone } from '../../storage/resource-storage.ts';
import { paced } from '../../storage/paced.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import { candidatesOf } from './candidates.ts';
import { decodeContinue, encodeContinue } from './continue-token.ts';
import { type ListOptions, matcherOf, parseResourceVersion } from './list-options.ts';
import { chosen } from './choosing.ts';
import type { ServedResource, WriteSettings } from './types.ts';

export interface ListPage {
  entries: StoredObject[];
  revision: number;
  continueToken: string;
  remaining: number | undefined;
}

interface Question {
  resource: ServedResource;
  /** Keys asked for begin with this. */
  prefix: string;
  start: string;
  limit: number;
  matches: ((stored: StoredObject) => boolean) | undefined;
  /** The only objects that can match, where an index knows them now. */
  candidates: () => StoredObject[] | undefined;
  rest: WriteSettings['rest'];
}

/** `rest`: waited for between objects that a selector looks at. */
export async function list(
  resource: ServedResource,
  namespace: string,
  options: ListOptions,
  rest: WriteSettings['rest'],
): Promise<ListPage> {
  const question = questionOf(resource, namespace, options, rest);
  const { feed } = resource.storage;
  resource.storage.cache.checkReadable(question.prefix);
  if (options.continueToken !== '') return continued(question, options);
  const asked = parseResourceVersion(options.resourceVersion, 'list');
  const exact =
    options.resourceVersionMatch === 'Exact' || (options.resourceVersionMatch === '' && options.limit > 0 && asked > 0);
  if (exact) return past(question, asked, false);
  if (asked > 0) await feed.waitFor(asked);
  else if (options.resourceVersion === '') await feed.current();
  // "Any" version comes from memory, where a limit saves nothing: upstream ignores it too.
  return present(options.resourceVersion === '0' ? { ...question, limit: 0 } : question, feed.revision);
}

function questionOf(resource: ServedResource, namespace: string, options: ListOptions, rest: WriteSettings['rest']): Question {
  const { storage } = resource;
  const scope =
    namespace !== '' || !resource.namespaced ? namespace : (options.fieldSelector.exactMatch('metadata.namespace') ?? '');
  const prefix = resource.namespaced && scope !== '' ? `${storage.prefix}${scope}/` : storage.prefix;
  const limit = Math.max(options.limit, 0);
  const candidates = (): StoredObject[] | undefined => candidatesOf(resource, scope, options, rest);
  return { resource, prefix, start: prefix, limit, matches: matcherOf(resource, options), candidates, rest };
}

async function continued(question: Question, options: ListOptions): Promise<ListPage> {
  const place = decodeContinue(options.continueToken, question.prefix);
  if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const { feed, cache } = question.resource.storage;
  const from = { ...question, start: place.start, limit: options.resourceVersion === '0' ? 0 : question.limit };
  if (place.revision < 0) {
    await feed.current();
    return present(from, feed.revision);
  }
  if (cache.lastChange <= place.revision && feed.revision >= place.revision) return present(from, place.revision);
  return past(from, place.revision, true);
}

/** Lists in a version other than the stored one. Objects are converted first, because selectors look at what the client sees. */
async function presentViews(question: Question, revision: number): Promise<ListPage> {
  const { resource, prefix, start, limit, matches } = question;
  const candidates: StoredObject[] = [];
  resource.storage.cache.entries.walk(prefix, start, (entry) => void candidates.push(entry));
  const found: StoredObject[] = [];
  const pieceOf = matches === undefined && limit > 0 ? limit : conversionObjectsMax;
  let at = 0;
  while (at < candidates.length && (limit === 0 || found.length < limit)) {
    for (const view of await viewsOf(resource, candidates.slice(at, at + pieceOf))) {
      at++;
      if (matches === undefined || matches(view)) found.push(view);
      if (limit > 0 && found.length >= limit) break;
    }
  }
  const rest = candidates.length - at;
  return pageOf(question, found, rest > 0, rest, revision);
}

const viewsOf = async ({ versions }: ServedResource, entries: StoredObject[]): Promise<StoredObject[]> =>
  versions ? versions.of(entries) : entries;

/** From memory, as of `revision`. */
async function present(question: Question, revision: number): Promise<ListPage> {
  if (question.resource.versions) return presentViews(question, revision);
  const { entries } = question.resource.storage.cache;
  const { prefix, start, limit, matches } = question;
  const found: StoredObject[] = [];
  const later: StoredObject[] = [];
  const pauseBefore = matches && paced(question.rest);
  let next: string | undefined;
  let pause: Promise<void> | undefined;
  const visit = (entry: StoredObject, key: string): boolean => {
    if (limit > 0 && found.length >= limit) {
      next = key;
      return false;
    }
    pause ??= pauseBefore?.(entry);
    // What is stored now is what is listed, although objects are looked at in later turns once this one is old.
    if (pause) later.push(entry);
    else if (matches === undefined || matches(entry)) found.push(entry);
    return true;
  };
  const candidates = question.candidates();
  if (candidates) candidates.every((entry) => entry.key < start || !entry.key.startsWith(prefix) || visit(entry, entry.key));
  else entries.walk(prefix, start, visit);
  if (matches && pause) {
    await pause;
    const more = await chosen(later, matches, question.rest, limit === 0 ? Infinity : limit - found.length);
    for (const entry of more.found) found.push(entry);
    next ??= more.next?.key;
  }
  const rest = next !== undefined && matches === undefined ? entries.count(prefix, next) : 0;
  return pageOf(question, found, next !== undefined, rest, revision);
}

/** From the store's history. */
async function past(question: Question, revision: number, isContinuation: boolean): Promise<ListPage> {
  const { resource, prefix, limit, matches } = question;
  const found: StoredObject[] = [];
  let { start } = question;
  for (;;) {
    const page = await readPast(question, start, revision, isContinuation);
    const entries = await viewsOf(resource, page.entries);
    for (const [at, entry] of entries.entries()) {
      if (matches !== undefined && !matches(entry)) continue;
      found.push(entry);
      if (limit > 0 && found.length >= limit) {
        const rest = page.entries.length - at - 1 + page.remaining;
        return pageOf(question, found, rest > 0, rest, revision);
      }
    }
    const last = page.entries.at(-1);
    if (!page.more || !last) return pageOf({ ...question, resource, prefix }, found, false, 0, revision);
    start = `${last.key}\u0000`;
  }
}

async function readPast(
  { resource, prefix, limit, matches, start: first }: Question,
  start: string,
  revision: number,
  isContinuation: boolean,
): ReturnType<ServedResource['storage']['listPast']> {
  try {
    return await resource.storage.listPast(prefix, start, matches === undefined ? limit : 0, revision);
  } catch (error) {
    if (isFutureRevision(error)) throw tooLargeResourceVersion(revision, resource.storage.feed.revision);
    if (!isHistoryGone(error)) throw error;
    if (!isContinuation) throw expired(expiredMessages.resourceVersion);
    throw inconsistentContinue(first, prefix);
  }
}

/** 410 with a token that goes on from here without consistency, for clients that prefer that. */
function inconsistentContinue(start: string, prefix: string): StatusError {
  const error = expired(expiredMessages.inconsistentContinue);
  error.status.metadata = { continue: encodeContinue(start.endsWith('\0') ? start.slice(0, -1) : start, prefix, -1) };
  return error;
}

function pageOf({ prefix, matches }: Question, entries: StoredObject[], more: boolean, rest: number, revision: number): ListPage {
  const last = entries.at(-1);
  return {
    entries,
    revision,
    continueToken: more && last ? encodeContinue(last.key, prefix, revision) : '',
    remaining: more && matches === undefined ? rest : undefined,
  };
}
