// One committed change as watchers see it (k8s.io/apiserver/pkg/storage/cacher, watchCacheEvent). What it looks like depends on the
// watcher's selector: an object that stops matching is DELETED for that watcher, one that begins to match is ADDED.
import type { StoredObject } from './stored-object.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

export class CacheEvent {
  readonly revision: number;
  readonly current: StoredObject | undefined;
  readonly previous: StoredObject | undefined;
  /** When it was heard, for the age of the ring. */
  readonly atMs: number;
  /** What the ring holds for its sake, in bytes of the stored object. */
  readonly bytes: number;
  #gone: StoredObject | undefined;
  #hot = true;
  #frames: Map<string, Buffer> | undefined;
  #views: CacheEvent[] | undefined;

  constructor(revision: number, current: StoredObject | undefined, previous: StoredObject | undefined, atMs: number, bytes = 0) {
    this.bytes = bytes;
    this.revision = revision;
    this.current = current;
    this.previous = previous;
    this.atMs = atMs;
  }

  get any(): StoredObject {
    return (this.current ?? this.previous) as StoredObject;
  }

  /** What a watcher with this selector hears; undefined: nothing. */
  typeFor(matches: ((object: StoredObject) => boolean) | undefined): ChangeType | undefined {
    const now = this.current !== undefined && (matches === undefined || matches(this.current));
    const before = this.previous !== undefined && (matches === undefined || matches(this.previous));
    if (now) return before ? 'MODIFIED' : 'ADDED';
    return before ? 'DELETED' : undefined;
  }

  /** The object that goes with the type: a deletion shows the last matching state, at the revision of the change. */
  objectFor(type: ChangeType): StoredObject {
    if (type !== 'DELETED') return this.current as StoredObject;
    const gone = this.#gone ?? (this.previous as StoredObject).at(this.revision);
    if (this.#hot) this.#gone = gone;
    return gone;
  }

  /** Encoded once for all watchers of one encoding, as long as the event is hot. */
  frame(type: ChangeType, encoding: string, make: (type: ChangeType, object: StoredObject) => Buffer): Buffer {
    if (!this.#hot) return make(type, this.objectFor(type));
    this.#frames ??= new Map();
    const key = type + encoding;
    let frame = this.#frames.get(key);
    if (!frame) {
      frame = make(type, this.objectFor(type));
      this.#frames.set(key, frame);
    }
    return frame;
  }

  /** This change as another version shows it; the two cool down together. */
  shownAs(current: StoredObject | undefined, previous: StoredObject | undefined): CacheEvent {
    const view = new CacheEvent(this.revision, current, previous, this.atMs);
    view.#hot = this.#hot;
    this.#views = [...(this.#views ?? []), view];
    return view;
  }

  /** Frames are only wanted while events are hot; the ring keeps events without them, and of objects that are no longer there only the bytes. */
  coolDown(): void {
    this.#hot = false;
    this.#frames = undefined;
    this.#gone = undefined;
    this.previous?.retire();
    for (const view of this.#views ?? []) view.coolDown();
  }
}
