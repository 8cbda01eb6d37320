// Sharing of equal subtrees between objects (facts: perf.md 3; design "Fast by construction", 3). Siblings of one owner have the same
// containers, tolerations, labels and field sets: keeping each once makes a pod 2 kB instead of 9 and keeps full collections short.
// A subtree is recognised by its JSON. Two generations bound the memory: what was not met again during one generation is forgotten.
import type { UnknownObject } from '#apimachinery/meta';
import { setOwn } from '#utils';
import { sharedSubtreeLengthMin, sharedSubtreesMax } from '../limits.ts';

export interface SubtreeSharer {
  /** Replaces subtrees of a private object, in place, by shared ones. */
  share(object: UnknownObject): void;
}

export function createSubtreeSharer(max = sharedSubtreesMax): SubtreeSharer {
  let young = new Map<string, object>();
  let old = new Map<string, object>();
  const shared = (value: object): object => {
    const json = JSON.stringify(value);
    if (json.length < sharedSubtreeLengthMin) return value;
    const known = young.get(json) ?? old.get(json);
    if (young.size >= max) {
      old = young;
      young = new Map();
    }
    young.set(json, known ?? value);
    return known ?? value;
  };
  const shareIn = (holder: Record<string, unknown>): void => {
    for (const key in holder) {
      const value = holder[key];
      if (typeof value === 'object' && value !== null) setOwn(holder, key, shared(value));
    }
  };
  return {
    share(object) {
      const { metadata } = object;
      if (metadata.labels) metadata.labels = shared(metadata.labels) as typeof metadata.labels;
      if (metadata.annotations) metadata.annotations = shared(metadata.annotations) as typeof metadata.annotations;
      if (metadata.ownerReferences)
        metadata.ownerReferences = shared(metadata.ownerReferences) as typeof metadata.ownerReferences;
      if (metadata.managedFields) {
        metadata.managedFields = metadata.managedFields.map((entry) =>
          entry.fieldsV1 ? { ...entry, fieldsV1: shared(entry.fieldsV1) as Record<string, unknown> } : entry,
        );
      }
      // A copy of the holder: it may be shared with another object already, its members may not.
      for (const part of ['spec', 'status']) {
        const holder = object[part];
        if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) continue;
        const copy = { ...(holder as Record<string, unknown>) };
        shareIn(copy);
        object[part] = copy;
      }
    },
  };
}
