// A custom resource with several versions as one of them shows it: what is stored stays in the form it was written in, and is converted when
// it is first asked for in another one. What was made is kept beside the stored object, for all who read or watch that version.
import { plainError } from '#apimachinery/errors';
import type { UnknownObject } from '#apimachinery/meta';
import { deepCopy } from '#utils';
import type { CacheEvent } from '../../storage/event.ts';
import { conversionMemoMax, conversionRoundsMax } from '../../limits.ts';
import type { VersionViews } from '../../registry/generic/types.ts';
import { sameJson } from '../../registry/generic/values.ts';
import { StoredObject } from '../../storage/stored-object.ts';
import type { Converter } from './converter.ts';

export interface ViewsOptions {
  /** The version that the view shows, and in which a write through it is made. */
  apiVersion: string;
  storageApiVersion: string;
  convert: Converter;
  /** Brings a converted object into the form of its version's schema, in place: pruned, and defaulted where it is read. */
  shape(object: UnknownObject, apiVersion: string, use: 'read' | 'store'): void;
}

/** Thrown out of pure bookkeeping that needs an object in another version: the answer is fetched, and all is done again. */
class ConversionNeeded extends Error {
  readonly object: UnknownObject;
  readonly apiVersion: string;
  constructor(object: UnknownObject, apiVersion: string) {
    super(`conversion to ${apiVersion} needed`);
    this.object = object;
    this.apiVersion = apiVersion;
  }
}

export class Views implements VersionViews {
  readonly #options: ViewsOptions;
  readonly #made = new WeakMap<StoredObject, Promise<StoredObject>>();
  /** Stored objects of this version that are as its schema has them. */
  readonly #settled = new WeakSet<StoredObject>();
  readonly #events = new WeakMap<CacheEvent, Map<boolean, Promise<CacheEvent>>>();
  /** Answers for the bookkeeping, by object and version; the oldest go first. */
  readonly #memo = new Map<string, UnknownObject>();

  constructor(options: ViewsOptions) {
    this.#options = options;
  }

  of(entries: readonly StoredObject[]): Promise<StoredObject[]> {
    const { apiVersion, convert, shape } = this.#options;
    const missing = entries.filter((entry) => entry.object.apiVersion !== apiVersion && !this.#made.has(entry));
    if (missing.length > 0) {
      const all = convert(
        missing.map(({ object }) => object),
        apiVersion,
        (object) => shape(object, apiVersion, 'read'),
      );
      missing.forEach((entry, at) => {
        const made = all.then((objects) => new StoredObject(entry, objects[at] as UnknownObject));
        this.#made.set(entry, made);
        // What could not be converted is asked for again.
        made.catch(() => this.#made.delete(entry));
      });
    }
    for (const entry of entries) if (entry.object.apiVersion === apiVersion) this.#bringUpToDate(entry);
    return Promise.all(entries.map(async (entry) => (await this.#made.get(entry)) ?? entry));
  }

  /** The schema may have got defaults, or lost fields, since the object was written. */
  #bringUpToDate(entry: StoredObject): void {
    if (this.#settled.has(entry) || this.#made.has(entry)) return;
    const object = deepCopy(entry.object);
    this.#options.shape(object, this.#options.apiVersion, 'read');
    if (sameJson(object, entry.object)) this.#settled.add(entry);
    else this.#made.set(entry, Promise.resolve(new StoredObject(entry, object)));
  }

  async one(entry: StoredObject): Promise<StoredObject> {
    return (await this.of([entry]))[0] as StoredObject;
  }

  event(event: CacheEvent, withPrevious: boolean): Promise<CacheEvent> {
    const known = this.#events.get(event) ?? new Map<boolean, Promise<CacheEvent>>();
    this.#events.set(event, known);
    let made = known.get(withPrevious);
    if (!made) {
      made = this.#eventOf(event, withPrevious);
      made.catch(() => known.delete(withPrevious));
      known.set(withPrevious, made);
    }
    return made;
  }

  async #eventOf(event: CacheEvent, withPrevious: boolean): Promise<CacheEvent> {
    const { current, previous } = event;
    // The state before only counts where it is shown, or where a selector looks at it.
    const wanted = current && !withPrevious ? [current] : [current, previous].filter((one) => one !== undefined);
    const views = await this.of(wanted);
    const viewOf = (one: StoredObject | undefined): StoredObject | undefined => one && (views[wanted.indexOf(one)] ?? one);
    return event.shownAs(viewOf(current), viewOf(previous));
  }

  async convert(object: UnknownObject, apiVersion: string): Promise<UnknownObject> {
    const { convert, shape } = this.#options;
    const [made] = await convert([object], apiVersion, (one) => shape(one, apiVersion, 'store'));
    return made as UnknownObject;
  }

  async encode(object: UnknownObject): Promise<UnknownObject> {
    const { storageApiVersion } = this.#options;
    return object.apiVersion === storageApiVersion ? object : this.convert(object, storageApiVersion);
  }

  /** For bookkeeping that cannot wait: the object in that version, or `ConversionNeeded` for `answering` to catch. */
  known(object: UnknownObject, apiVersion: string): UnknownObject {
    if (object.apiVersion === apiVersion) return object;
    // Nothing but its name to convert: no webhook is asked, as upstream does not.
    if (Object.keys(object).every((key) => heads.has(key)) && Object.keys(object.metadata ?? {}).length === 0)
      return { ...object, apiVersion };
    const answer = this.#memo.get(memoKey(object, apiVersion));
    if (!answer) throw new ConversionNeeded(object, apiVersion);
    return answer;
  }

  async answering<T>(work: () => T | Promise<T>): Promise<T> {
    for (let round = 0; round < conversionRoundsMax; round++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof ConversionNeeded)) throw error;
        await this.#answer(error);
      }
    }
    throw plainError('too many versions have owners of fields');
  }

  async #answer({ object, apiVersion }: ConversionNeeded): Promise<void> {
    const { convert, shape } = this.#options;
    const [made] = await convert([object], apiVersion, (one) => shape(one, apiVersion, 'read'));
    this.#memo.set(memoKey(object, apiVersion), made as UnknownObject);
    const [oldest] = this.#memo.keys();
    if (this.#memo.size > conversionMemoMax && oldest !== undefined) this.#memo.delete(oldest);
  }
}

const heads = new Set(['apiVersion', 'kind', 'metadata']);

const memoKey = (object: UnknownObject, apiVersion: string): string => `${apiVersion} ${JSON.stringify(object)}`;
