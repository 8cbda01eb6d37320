// Which of many objects a selector picks: they are looked at a few at a time, because one that was never asked for has to be parsed first.
import { paced, type Rest } from '../../storage/paced.ts';
import type { StoredObject } from '../../storage/stored-object.ts';

export interface Chosen {
  found: StoredObject[];
  /** The first that was not looked at, once there are enough. */
  next: StoredObject | undefined;
}

/** `rest`: waited for between groups; `limit`: how many are enough. */
export async function chosen(
  entries: readonly StoredObject[],
  matches: (stored: StoredObject) => boolean,
  rest: Rest,
  limit = Infinity,
): Promise<Chosen> {
  const found: StoredObject[] = [];
  const pauseBefore = paced(rest);
  for (const entry of entries) {
    if (found.length >= limit) return { found, next: entry };
    const pause = pauseBefore(entry);
    if (pause) await pause;
    if (matches(entry)) found.push(entry);
  }
  return { found, next: undefined };
}
