// Watches over the durable history: each one keeps the next revision it wants. Those that are up to date are told of every published
// batch at once; those that lag are fed from history in slices, so that a long catch-up does not hold up everything else.
import type { Logger } from '#utils';
import { ClosedError, CompactedError } from '../errors.ts';
import { keyMatcher } from '../keys.ts';
import { sliceRevisionsMax } from '../limits.ts';
import type { StoreEvent, StoreWatch, WatchRequest } from '../types.ts';
import type { History } from './history.ts';
import type { Version } from './record.ts';
import { alive } from './record.ts';

interface Watcher {
  readonly request: WatchRequest;
  readonly matches: (key: string, order: string) => boolean;
  /** First revision not yet delivered. */
  next: number;
  synced: boolean;
  progressWanted: boolean;
  ended: boolean;
}

/** One published change and its events, made at most once and shared by all watchers. */
interface Published {
  readonly version: Version;
  plain: StoreEvent | undefined;
  withPrev: StoreEvent | undefined;
}

const published = (version: Version): Published => ({ version, plain: undefined, withPrev: undefined });

function eventOf(change: Published, prevKv: boolean): StoreEvent {
  const { version } = change;
  change.plain ??= { type: version.deleted ? 'DELETE' : 'PUT', kv: version.kv };
  if (!prevKv) return change.plain;
  if (!change.withPrev) {
    const before = alive(version.prev);
    change.withPrev = before ? { type: change.plain.type, kv: version.kv, prevKv: before } : change.plain;
  }
  return change.withPrev;
}

export interface WatchersOptions {
  history: History;
  /** Newest durable revision. */
  revision(): number;
  compactedRevision(): number;
  logger: Logger;
}

export class Watchers {
  readonly #options: WatchersOptions;
  readonly #watchers = new Set<Watcher>();

  constructor(options: WatchersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#watchers.size;
  }

  add(request: WatchRequest): StoreWatch {
    const { history, revision } = this.#options;
    const current = revision();
    const start = request.startRevision || current + 1;
    const watcher: Watcher = {
      request,
      matches: keyMatcher(request.key, request.rangeEnd),
      next: start,
      synced: start > current,
      progressWanted: false,
      ended: false,
    };
    this.#watchers.add(watcher);
    if (start < history.first && start <= this.#options.compactedRevision()) {
      queueMicrotask(() => this.#end(watcher, new CompactedError(this.#options.compactedRevision())));
    } else if (!watcher.synced) queueMicrotask(() => this.#catchUp(watcher));
    return {
      progress: () => this.#progress(watcher),
      cancel: () => {
        watcher.ended = true;
        this.#watchers.delete(watcher);
      },
    };
  }

  /** Tells all up-to-date watchers of the changes of whole revisions up to `revision`. */
  publish(versions: readonly Version[], revision: number): void {
    const changes = this.#watchers.size === 0 ? [] : versions.map(published);
    for (const watcher of this.#watchers) {
      if (!watcher.synced) continue;
      const from = watcher.next;
      watcher.next = Math.max(from, revision + 1);
      const events = select(watcher, changes, from);
      if (events.length > 0) this.#deliver(watcher, events, revision);
    }
  }

  endAll(error: Error): void {
    for (const watcher of this.#watchers) this.#end(watcher, error);
  }

  #catchUp(watcher: Watcher): void {
    if (watcher.ended) return;
    const { history, revision, compactedRevision } = this.#options;
    const current = revision();
    if (watcher.next < compactedRevision()) {
      this.#end(watcher, new CompactedError(compactedRevision()));
      return;
    }
    const from = Math.max(watcher.next, history.first);
    const to = Math.min(current, from + sliceRevisionsMax - 1);
    const changes: Published[] = [];
    for (let at = from; at <= to; at++) for (const version of history.at(at)) changes.push(published(version));
    watcher.next = to + 1;
    watcher.synced = to >= current;
    const events = select(watcher, changes, from);
    if (events.length > 0) this.#deliver(watcher, events, to);
    if (!watcher.synced) setImmediate(() => this.#catchUp(watcher));
    else if (watcher.progressWanted) this.#progress(watcher);
  }

  #progress(watcher: Watcher): void {
    watcher.progressWanted = true;
    if (!watcher.synced) return;
    queueMicrotask(() => {
      if (watcher.ended || !watcher.progressWanted) return;
      watcher.progressWanted = false;
      this.#deliver(watcher, [], this.#options.revision());
    });
  }

  #deliver(watcher: Watcher, events: readonly StoreEvent[], revision: number): void {
    try {
      watcher.request.onEvents(events, revision);
    } catch (error) {
      // A watcher that throws broke its contract; the store and the other watchers go on.
      this.#options.logger.error('Watch callback failed', { err: error, key: watcher.request.key });
      this.#end(watcher, new ClosedError('watch callback failed', { cause: error }));
    }
  }

  #end(watcher: Watcher, error: Error): void {
    if (watcher.ended) return;
    watcher.ended = true;
    this.#watchers.delete(watcher);
    try {
      watcher.request.onEnd(error);
    } catch (failure) {
      this.#options.logger.error('Watch callback failed', { err: failure, key: watcher.request.key });
    }
  }
}

function select(watcher: Watcher, changes: readonly Published[], from: number): StoreEvent[] {
  const events: StoreEvent[] = [];
  const prevKv = watcher.request.prevKv === true;
  for (const change of changes) {
    const { kv, record } = change.version;
    if (kv.modRevision >= from && watcher.matches(record.key, record.order)) events.push(eventOf(change, prevKv));
  }
  return events;
}
