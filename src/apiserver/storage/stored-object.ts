// One object as the apiserver holds it: frozen, with its encoded bytes and its revision (design: "Apiserver"). Either side is made from the
// other when first needed, so that objects read at start are served without ever being parsed.
import type { UnknownObject } from '#apimachinery/meta';
import { remadeBytesMax } from '../limits.ts';
import {
  canonical,
  encodeStored,
  isSpliced,
  itemOffset,
  lineOf,
  ownBytes,
  splicedText,
  spliceVersion,
  versionOffset,
} from './encoding.ts';
import { Remade } from './remade.ts';

/** Turns stored bytes into an object: JSON, or protobuf written by an upstream apiserver. */
export type DecodeStored = (bytes: Uint8Array) => UnknownObject;

const remade = new Remade(remadeBytesMax);

/** Forms made on demand and kept: other versions, protobuf, table rows. */
export type FormKey = string;

/** A value of the store in the form that `encodeStored` gives, and where in it the version goes. */
export interface StoredBytes {
  value: Buffer;
  offset: number;
}

/** The bytes of a value of the store; undefined when they are not in our form. */
export function storedBytes(value: Uint8Array): StoredBytes | undefined {
  const offset = versionOffset(value);
  return offset < 0 ? undefined : { value: ownBytes(value), offset };
}

export class StoredObject {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  #object: UnknownObject | undefined;
  /** The store's value, which the store holds as well. */
  readonly #stored: Buffer | undefined;
  readonly #offset: number;
  #line: Buffer | undefined;
  #item = 0;
  #forms: Map<FormKey, unknown> | undefined;
  /** `noted`: it is of the past, and something was made of its bytes since it shrank. */
  #age: 'present' | 'past' | 'noted' = 'present';

  /** One of `object` and `stored` must be given. */
  constructor(
    at: { key: string; namespace: string; name: string; revision: number },
    object?: UnknownObject,
    stored?: StoredBytes,
  ) {
    this.key = at.key;
    this.namespace = at.namespace;
    this.name = at.name;
    this.revision = at.revision;
    this.#object = object;
    this.#stored = stored?.value;
    this.#offset = stored?.offset ?? 0;
  }

  /** Frozen by contract; with resourceVersion. */
  get object(): UnknownObject {
    if (this.#object === undefined) {
      this.#object = JSON.parse(this.#text()) as UnknownObject;
      this.#note();
    }
    return this.#object;
  }

  /** Whether `object` is there without any work. */
  get isParsed(): boolean {
    return this.#object !== undefined;
  }

  /** It is no longer what is stored: only those ask for it who hear of the past. */
  retire(): void {
    if (this.#age === 'present') this.#age = 'past';
    this.#shrink();
  }

  /** Lets go of all that can be made from its bytes again. */
  #shrink(): void {
    if (this.#stored) this.#line = undefined;
    else if (!this.#line) return;
    this.#object = undefined;
    this.#forms = undefined;
  }

  #note(): void {
    if (this.#age !== 'past') return;
    this.#age = 'noted';
    remade.add(this.weight, () => {
      this.#age = 'past';
      this.#shrink();
    });
  }

  /** What its bytes weigh, where there are any. */
  get weight(): number {
    return this.#line?.length ?? this.#stored?.length ?? 0;
  }

  /** Whether it is stored as these bytes. */
  isStoredAs(value: Buffer): boolean {
    if (this.#stored) return this.#stored.equals(value);
    const offset = versionOffset(value);
    return offset >= 0 && isSpliced(this.line, value, offset, this.revision);
  }

  /** JSON with resourceVersion, kind and apiVersion first, then metadata. */
  get bytes(): Buffer {
    const { line } = this;
    return line.subarray(0, line.length - 1);
  }

  /** The object's bytes with a newline behind them, as answers end. */
  get line(): Buffer {
    if (this.#line === undefined) {
      this.#line = this.#stored ? spliceVersion(this.#stored, this.#offset, this.revision) : encodeServed(this.object);
      this.#note();
    }
    return this.#line;
  }

  /** The object's bytes as they stand in a list, without the `{` before them. */
  get itemBytes(): Buffer {
    const { line } = this;
    if (this.#item === 0) this.#item = itemOffset(line);
    return line.subarray(this.#item, line.length - 1);
  }

  /** A form made once. */
  form<T>(key: FormKey, make: (self: StoredObject) => T): T {
    this.#forms ??= new Map();
    let form = this.#forms.get(key) as T | undefined;
    if (form === undefined) {
      form = make(this);
      this.#forms.set(key, form);
      this.#note();
    }
    return form;
  }

  #text(): string {
    return this.#stored ? splicedText(this.#stored, this.#offset, this.revision) : (this.#line as Buffer).toString();
  }

  /** This object with another revision, as watch events of deletions carry it. */
  at(revision: number): StoredObject {
    const { metadata, ...rest } = this.object;
    const object = { ...rest, metadata: { ...metadata, resourceVersion: String(revision) } } as UnknownObject;
    return new StoredObject({ key: this.key, namespace: this.namespace, name: this.name, revision }, object);
  }
}

/** The line of an object as it is served: head in order, version behind the uid where there is one. */
export function encodeServed(object: UnknownObject): Buffer {
  const { resourceVersion, selfLink } = object.metadata;
  const ordered = canonical(object);
  // The answer to a dry run has what storage would have dropped.
  if (selfLink) ordered.metadata.selfLink = selfLink;
  const stored = encodeStored(ordered);
  if (!resourceVersion) return lineOf(stored);
  const offset = versionOffset(stored);
  if (offset >= 0) return spliceVersion(stored, offset, resourceVersion);
  ordered.metadata.resourceVersion = resourceVersion;
  return lineOf(encodeStored(ordered));
}

/** Makes an object from the store's value. Values in another form than ours (protobuf, other field order) are decoded at once. */
export function fromStored(
  at: { key: string; namespace: string; name: string; revision: number },
  value: Uint8Array,
  decode: DecodeStored,
): StoredObject {
  const stored = storedBytes(value);
  if (stored) return new StoredObject(at, undefined, stored);
  const object = decode(value);
  object.metadata ??= {};
  object.metadata.resourceVersion = String(at.revision);
  return new StoredObject(at, object);
}
