// Snapshots as files: written beside their place and put there whole, for their owner only.
import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncDir } from '#host';
import type { StoreContents } from '../types.ts';
import { encodeSnapshot } from './index.ts';

export interface SavedSnapshot {
  revision: number;
  bytes: number;
}

/** Replaces `path`. Rejects with the file system's error, and then leaves nothing behind. */
export async function writeSnapshot(contents: StoreContents, path: string): Promise<SavedSnapshot> {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
  let bytes = 0;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      for (const piece of batched(encodeSnapshot(contents))) {
        await file.writeFile(piece);
        bytes += piece.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    await syncDir(dirname(path));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  return { revision: contents.revision, bytes };
}

const batchBytes = 256 * 1024;

/** Pages are small: many go into one write. */
function* batched(pieces: Iterable<Buffer>): Generator<Buffer> {
  let batch: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    batch.push(piece);
    bytes += piece.length;
    if (bytes < batchBytes) continue;
    yield Buffer.concat(batch);
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield Buffer.concat(batch);
}

/** Rejects with the file system's error, and with a sentence for what is no file and may have no end. */
export async function readSnapshot(path: string): Promise<Buffer> {
  if (!(await stat(path)).isFile()) throw new Error(`a snapshot is a file, and ${path} is none`);
  return readFile(path);
}
