// WATCH semantics (https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes): where a watch begins, what it
// is shown first, and which changes reach it. What the events look like on the wire is the endpoint's business.
import { expired, expiredMessages, internalError, type Status, StatusError } from '#apimachinery/errors';
import type { CacheEvent, ChangeType } from '../../storage/event.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import { candidatesOf } from './candidates.ts';
import { type ListOptions, matcherOf, parseResourceVersion } from './list-options.ts';
import { chosen } from './choosing.ts';
import { type Heard, type Missed, missedSince } from './missed-changes.ts';
import type { ServedResource, VersionViews, WriteSettings } from './types.ts';

export interface WatchSink {
  onEvent(event: CacheEvent, type: ChangeType): void;
  /** The stream can not go on: the client has to list again. `failure`: why, where it is not that too much was missed. */
  onEnd(failure?: Status): void;
}

export interface WatchStart {
  /** Objects to show as ADDED before anything else, in key order. */
  initial: StoredObject[];
  /** Everything up to here is in `initial` or was seen by the client before. */
  revision: number;
  /** What has changed since then, as far as it is known by now. */
  missed: readonly Missed[];
  /** A bookmark that ends the initial objects was asked for. */
  endMark: boolean;
  /** What a bookmark may say of `revision`, when events up to there are still on their way; absent: the revision itself. */
  reached?(revision: number): number;
  /** Begins delivery of what comes after `missed`. Returns the way to stop. Must be called in the same turn. */
  subscribe(sink: WatchSink): () => void;
}

/** Rejects with 410 for a version that is not remembered. */
export async function startWatch(
  resource: ServedResource,
  namespace: string,
  options: ListOptions,
  rest: WriteSettings['rest'],
): Promise<WatchStart> {
  const { feed, cache } = resource.storage;
  const asked = parseResourceVersion(options.resourceVersion, 'other');
  const wantsState = options.sendInitialEvents === true || (options.sendInitialEvents === undefined && asked === 0);
  // A consistent beginning: no version at all. "0" may be as old as memory is.
  if (options.resourceVersion === '') await feed.current();
  else if (options.sendInitialEvents === true && asked > feed.revision) await feed.waitFor(asked);
  const matches = matcherOf(resource, options);
  const scope = scopeOf(resource, namespace, options);
  const from = wantsState || asked === 0 ? feed.revision : asked;
  if (!wantsState && from < cache.oldestRevision) throw expired(expiredMessages.watch(from, cache.oldestRevision));
  if (resource.versions) return watchViews(resource, resource.versions, { scope, matches, options, from, wantsState, rest });
  const state = wantsState ? stateOf(resource, scope, options, rest) : [];
  const initial = matches ? (await chosen(state, matches, rest)).found : state;
  const inScope = scopeTest(scope);
  const { missed, upTo } = await missedSince(cache, from, rest, (event) =>
    inScope(event) ? heardOf(event, matches) : undefined,
  );
  return {
    initial,
    revision: from,
    missed,
    endMark: options.sendInitialEvents === true && options.allowWatchBookmarks,
    subscribe: (sink) =>
      follow(resource, scope, upTo, sink, (event) => {
        const type = event.typeFor(matches);
        if (type) sink.onEvent(event, type);
      }),
  };
}

const heardOf = (event: CacheEvent, matches: Matcher): Heard => {
  const type = event.typeFor(matches);
  return type && { event, type };
};

/** Every change in scope after `from`: those remembered, then those to come. */
function follow(
  { storage: { cache } }: ServedResource,
  scope: Scope,
  from: number,
  sink: WatchSink,
  onEvent: (event: CacheEvent) => void,
): () => void {
  const tell = (event: CacheEvent): void => {
    if (event.revision > from) onEvent(event);
  };
  const inScope = scopeTest(scope);
  for (const event of cache.eventsAfter(from)) if (inScope(event)) tell(event);
  return cache.watch({ scope, onEvent: tell, onEnd: () => sink.onEnd() });
}

type Matcher = ((stored: StoredObject) => boolean) | undefined;

interface ViewedWatch {
  scope: Scope;
  matches: Matcher;
  options: ListOptions;
  from: number;
  wantsState: boolean;
  rest: WriteSettings['rest'];
}

/** Watches in a version that has to be converted to. Changes wait for each other, so that they arrive in order. */
async function watchViews(
  resource: ServedResource,
  versions: VersionViews,
  { scope, matches, options, from, wantsState, rest }: ViewedWatch,
): Promise<WatchStart> {
  const { cache } = resource.storage;
  const views = wantsState ? await versions.of(stateOf(resource, scope, options, rest)) : [];
  const inScope = scopeTest(scope);
  const viewed = async (event: CacheEvent): Promise<Heard> =>
    heardOf(await versions.event(event, matches !== undefined), matches);
  const { missed, upTo } = await missedSince(cache, from, rest, (event) => (inScope(event) ? viewed(event) : undefined));
  const waiting: number[] = [];
  return {
    initial: matches ? views.filter(matches) : views,
    revision: from,
    missed,
    endMark: options.sendInitialEvents === true && options.allowWatchBookmarks,
    reached: (revision) => Math.min(revision, (waiting[0] ?? revision + 1) - 1),
    subscribe(sink) {
      let over = false;
      let last = Promise.resolve();
      const fail = (error: unknown): void => {
        if (over) return;
        over = true;
        sink.onEnd(error instanceof StatusError ? error.status : internalError(String(error)).status);
      };
      const deliver = (event: CacheEvent): void => {
        waiting.shift();
        const type = over ? undefined : event.typeFor(matches);
        if (type) sink.onEvent(event, type);
      };
      const stop = follow(resource, scope, upTo, sink, (event) => {
        if (over) return;
        waiting.push(event.revision);
        const view = versions.event(event, matches !== undefined);
        view.catch(() => {});
        last = last.then(() => view).then(deliver);
        last.catch(fail);
      });
      return () => {
        over = true;
        stop();
      };
    },
  };
}

interface Scope {
  namespace: string;
  name: string;
  indexed?: string;
}

function scopeOf(resource: ServedResource, namespace: string, { fieldSelector }: ListOptions): Scope {
  const scope: Scope = {
    namespace: resource.namespaced ? namespace || (fieldSelector.exactMatch('metadata.namespace') ?? '') : '',
    name: fieldSelector.exactMatch('metadata.name') ?? '',
  };
  const { indexedBy } = resource.definition;
  const indexed = indexedBy === undefined ? undefined : fieldSelector.exactMatch(indexedBy);
  return indexed === undefined ? scope : { ...scope, indexed };
}

/** The ring remembers changes of the whole resource; a scoped watch replays only its own. */
function scopeTest({ namespace, name }: Scope): (event: CacheEvent) => boolean {
  return ({ any }) => (namespace === '' || any.namespace === namespace) && (name === '' || any.name === name);
}

function stateOf(resource: ServedResource, scope: Scope, options: ListOptions, rest: WriteSettings['rest']): StoredObject[] {
  const { cache, prefix } = resource.storage;
  const range = scope.namespace === '' ? prefix : `${prefix}${scope.namespace}/`;
  const candidates = candidatesOf(resource, scope.namespace, options, rest);
  const all = candidates?.filter(({ key }) => key.startsWith(range)) ?? cache.entries.values(range);
  return scope.name === '' ? all : all.filter((entry) => entry.name === scope.name);
}
