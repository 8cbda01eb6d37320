// Sharing of equal subtrees between objects, and the text of what is written. Siblings of one owner have the same containers, tolerations, labels and
// field sets: keeping each once makes a pod 2 kB instead of 9 and keeps full collections short. A subtree is recognised by its JSON, which is the
// same text that is stored: each is put into text once, and one that is shared already not at all.
// Two generations bound the memory, in parts and in bytes: what was not met again during one generation is forgotten.
import { goJson } from '#apimachinery/field';
import type { UnknownObject } from '#apimachinery/meta';
import { setOwn } from '#utils';
import {
  quotedKeysMax,
  sharedSubtreeBytesMax,
  sharedSubtreeLengthMax,
  sharedSubtreeLengthMin,
  sharedSubtreesMax,
  sharingMembersMax,
} from '../limits.ts';

type Holder = Record<string, unknown>;
/** The text of a value, which may be replaced by an equal one on the way. */
type Text = (holder: Holder, key: string, value: unknown) => string;

export interface SubtreeSharer {
  /** Replaces subtrees of a private object, in place, by shared ones; gives its JSON, as Go's encoder writes it. */
  share(object: UnknownObject): string;
}

const quotedKeys = new Map<string, string>();

/** `"key":`. Most keys are fields of types, few of them, again and again. */
function quotedKey(key: string): string {
  let text = quotedKeys.get(key);
  if (text === undefined) {
    text = `${goJson(key)}:`;
    if (quotedKeys.size < quotedKeysMax) quotedKeys.set(key, text);
  }
  return text;
}

const isObject = (value: unknown): value is Holder => typeof value === 'object' && value !== null && !Array.isArray(value);
const plain: Text = (_holder, _key, value) => (typeof value === 'number' ? JSON.stringify(value) : goJson(value));

function hasMany(holder: Holder): boolean {
  let members = 0;
  for (const _ in holder) if (++members > sharingMembersMax) return true;
  return false;
}

/** The members of an object, each by `textOf`. */
function members(holder: Holder, textOf: Text): string {
  let text = '{';
  for (const key in holder) {
    const value = holder[key];
    if (value !== undefined) text += `${text === '{' ? '' : ','}${quotedKey(key)}${textOf(holder, key, value)}`;
  }
  return `${text}}`;
}

export function createSubtreeSharer(max = sharedSubtreesMax): SubtreeSharer {
  let young = new Map<string, object>();
  let old = new Map<string, object>();
  let youngBytes = 0;
  /** Of subtrees that are shared, which never change. */
  const texts = new WeakMap<object, string>();
  const remember = (text: string, value: object): void => {
    if (young.has(text)) return;
    if (young.size >= max || youngBytes > sharedSubtreeBytesMax) {
      old = young;
      young = new Map();
      youngBytes = 0;
    }
    youngBytes += text.length;
    young.set(text, value);
  };
  const shared: Text = (holder, key, value) => {
    if (typeof value !== 'object' || value === null) return plain(holder, key, value);
    let text = texts.get(value);
    if (text !== undefined) {
      remember(text, value);
      return text;
    }
    text = goJson(value);
    if (text.length < sharedSubtreeLengthMin || text.length > sharedSubtreeLengthMax) return text;
    const known = young.get(text) ?? old.get(text) ?? value;
    remember(text, known);
    texts.set(known, text);
    setOwn(holder, key, known);
    return text;
  };
  const ofEntry: Text = (holder, key, value) => (key === 'fieldsV1' ? shared : plain)(holder, key, value);
  const ofMetadata: Text = (holder, key, value) => {
    if (key === 'labels' || key === 'annotations' || key === 'ownerReferences') return shared(holder, key, value);
    if (key !== 'managedFields' || !Array.isArray(value)) return plain(holder, key, value);
    // Copies: entries may belong to another object already, what is in them may not.
    const entries = value.map((entry: unknown) => (isObject(entry) ? { ...entry } : entry));
    holder[key] = entries;
    return `[${entries.map((entry) => (isObject(entry) ? members(entry, ofEntry) : goJson(entry))).join(',')}]`;
  };
  const ofObject: Text = (holder, key, value) => {
    if (!isObject(value) || hasMany(value)) return plain(holder, key, value);
    if (key === 'metadata') return members(value, ofMetadata);
    if (key !== 'spec' && key !== 'status') return plain(holder, key, value);
    const copy = { ...value };
    holder[key] = copy;
    return members(copy, shared);
  };
  return { share: (object) => members(object, ofObject) };
}
