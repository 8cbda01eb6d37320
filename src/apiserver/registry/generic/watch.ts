// WATCH semantics (https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes): where a watch begins, what it
// is shown first, and which changes reach it. What the events look like on the wire is the endpoint's business.
import { expired, expiredMessages } from '#apimachinery/errors';
import type { CacheEvent, ChangeType } from '../../cache/event.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import { type ListOptions, matcherOf, parseResourceVersion } from './list-options.ts';
import type { ServedResource } from './types.ts';

export interface WatchSink {
  onEvent(event: CacheEvent, type: ChangeType): void;
  /** The stream can not go on: the client has to list again. */
  onEnd(): void;
}

export interface WatchStart {
  /** Objects to show as ADDED before anything else, in key order. */
  initial: StoredObject[];
  /** Everything up to here is in `initial` or was seen by the client before. */
  revision: number;
  /** A bookmark that ends the initial objects was asked for. */
  endMark: boolean;
  /** Begins delivery; changes since the start come first. Returns the way to stop. Must be called in the same turn. */
  subscribe(sink: WatchSink): () => void;
}

/** Rejects with 410 for a version that is not remembered. */
export async function startWatch(resource: ServedResource, namespace: string, options: ListOptions): Promise<WatchStart> {
  const { feed, cache } = resource.storage;
  const asked = parseResourceVersion(options.resourceVersion, 'other');
  const wantsState = options.sendInitialEvents === true || (options.sendInitialEvents === undefined && asked === 0);
  // A consistent beginning: no version at all. "0" may be as old as memory is.
  if (options.resourceVersion === '') await feed.current();
  else if (options.sendInitialEvents === true && asked > feed.revision) await feed.waitFor(asked);
  const matches = matcherOf(resource, options);
  const scope = scopeOf(resource, namespace, options);
  const from = wantsState ? feed.revision : asked === 0 ? feed.revision : asked;
  if (!wantsState && from < cache.oldestRevision) throw expired(expiredMessages.watch(from, cache.oldestRevision));
  const initial = wantsState ? stateOf(resource, scope, matches) : [];
  return {
    initial,
    revision: from,
    endMark: options.sendInitialEvents === true && options.allowWatchBookmarks,
    subscribe(sink) {
      const tell = (event: CacheEvent): void => {
        if (event.revision <= from) return;
        const type = event.typeFor(matches);
        if (type) sink.onEvent(event, type);
      };
      const inScope = scopeTest(scope);
      for (const event of cache.eventsAfter(from)) if (inScope(event)) tell(event);
      return cache.watch({ scope, onEvent: tell, onEnd: () => sink.onEnd() });
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
  const indexed = resource.storage.cache.options.indexedField ? fieldSelector.exactMatch('spec.nodeName') : undefined;
  return indexed === undefined ? scope : { ...scope, indexed };
}

/** The ring remembers changes of the whole resource; a scoped watch replays only its own. */
function scopeTest({ namespace, name }: Scope): (event: CacheEvent) => boolean {
  return ({ any }) => (namespace === '' || any.namespace === namespace) && (name === '' || any.name === name);
}

function stateOf(
  resource: ServedResource,
  scope: Scope,
  matches: ((stored: StoredObject) => boolean) | undefined,
): StoredObject[] {
  const { cache, prefix } = resource.storage;
  const found: StoredObject[] = [];
  const range = scope.namespace === '' ? prefix : `${prefix}${scope.namespace}/`;
  cache.entries.walk(range, range, (entry) => {
    if (scope.name !== '' && entry.name !== scope.name) return;
    if (matches === undefined || matches(entry)) found.push(entry);
  });
  return found;
}
