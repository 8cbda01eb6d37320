// Which of many objects a selector picks: they are looked at a few at a time, because one that was never asked for has to be parsed first.
import type { StoredObject } from '../../storage/stored-object.ts';

const groupObjects = 16;

export interface Chosen {
  found: StoredObject[];
  /** The first that was not looked at, once there are enough. */
  next: StoredObject | undefined;
}

/** `rest`: waited for between groups; `limit`: how many are enough. */
export async function chosen(
  entries: readonly StoredObject[],
  matches: (stored: StoredObject) => boolean,
  rest: () => Promise<void> | undefined,
  limit = Infinity,
): Promise<Chosen> {
  const found: StoredObject[] = [];
  for (const [at, entry] of entries.entries()) {
    if (found.length >= limit) return { found, next: entry };
    const pause = at % groupObjects === 0 ? rest() : undefined;
    if (pause) await pause;
    if (matches(entry)) found.push(entry);
  }
  return { found, next: undefined };
}
