// Exclusive use of a store's directory: memory is authoritative, so a second process would silently diverge.
import { join } from 'node:path';
import { type Lock, LockHeldError, lockHolder as holderOf, takeLock } from '#host';
import { LockedError } from '../errors.ts';

export const lockName = 'store.lock';

/** Takes the lock of `directory`; LockedError (naming the directory) when a living process, this one included, holds it. */
export async function lockDirectory(directory: string): Promise<Lock> {
  try {
    return await takeLock(join(directory, lockName));
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error;
    const { pid } = error;
    throw new LockedError(
      pid === undefined
        ? `store ${directory} is being opened by several processes at once`
        : `store ${directory} is already open in ${pid === process.pid ? 'this process' : `process ${pid}`}`,
    );
  }
}

/** The process that has the store open, if there is one. */
export const lockHolder = (directory: string): Promise<number | undefined> => holderOf(join(directory, lockName));
