// Read, compare, write: once more from the start when somebody else wrote in between, as another replica does that has just lost its lease.
import { isConflict, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import type { Collection } from '../api/compute.ts';
import { ensureTriesMax } from '../limits.ts';

/** The changes that make `there` as wanted; undefined: it is. */
export type Compare<T> = (there: T) => Partial<T> | undefined;

/** Makes the resource, or changes it where it differs. Resolves with whether anything was written. */
export async function ensureResource<T extends { name?: string }>(
  collection: Collection<T>,
  wanted: T,
  compare: Compare<T>,
): Promise<boolean> {
  const name = wanted.name ?? '';
  for (let tries = 1; ; tries++)
    try {
      const there = await collection.get(name).catch(undefinedIfAbsent);
      const changes = there ? compare(there) : undefined;
      if (there && !changes) return false;
      await (changes ? collection.patch(name, changes) : collection.insert(wanted));
      return true;
    } catch (error) {
      if (!isConflict(error) || tries >= ensureTriesMax) throw error;
    }
}
