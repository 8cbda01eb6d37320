// Tags of Azure: keys are compared without case. Pure.

export type Tags = Readonly<Record<string, string>>;

/** Reads `a=b,c=d`. What is not of the form `key=value` is left out, as upstream does. */
export function parseTags(text: string | undefined): Tags {
  const tags: Record<string, string> = {};
  for (const pair of (text ?? '').split(',')) {
    const [key = '', value, ...more] = pair.split('=');
    if (key.trim() === '' || value === undefined || more.length > 0) continue;
    // «null» is a word that Azure keeps for itself, so blanks around it stay.
    tags[key.trim()] = value.trim().toLowerCase() === 'null' ? value : value.trim();
  }
  return tags;
}

/** The key as it is written there. */
const keyIn = (tags: Tags, key: string): string | undefined =>
  Object.keys(tags).find((one) => one.toLowerCase() === key.toLowerCase());

export const tagOf = (tags: Tags | undefined, ...keys: readonly string[]): string | undefined => {
  for (const key of keys) {
    const found = tags && keyIn(tags, key);
    if (found !== undefined && tags?.[found] !== undefined) return tags[found];
  }
  return undefined;
};

/** All tags together; later ones win. */
export function withTags(tags: Tags | undefined, ...more: readonly Tags[]): Record<string, string> {
  const all = { ...tags };
  for (const one of more) for (const [key, value] of Object.entries(one)) all[keyIn(all, key) ?? key] = value;
  return all;
}

export const mergedTags = (text: string | undefined, map: Tags = {}): Tags =>
  withTags(
    parseTags(text),
    Object.fromEntries(Object.entries(map).flatMap(([key, value]) => (key.trim() === '' ? [] : [[key.trim(), value.trim()]]))),
  );

export const sameTags = (a: Tags = {}, b: Tags = {}): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([key, value]) => b[key] === value);

/**
 * Tags as they should be: the wanted ones, and of those that are there the ones that somebody else may have set. With `systemTags` all others go, but
 * for those whose key begins with one of them.
 */
export function keptTags(there: Tags | undefined, wanted: Tags, systemTags: readonly string[]): Record<string, string> {
  const kept = Object.entries(there ?? {}).filter(([key]) => {
    if (systemTags.length === 0 || keyIn(wanted, key) !== undefined) return true;
    return systemTags.some((prefix) => key.toLowerCase().startsWith(prefix.toLowerCase()));
  });
  return withTags(Object.fromEntries(kept), wanted);
}
