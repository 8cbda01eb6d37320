// Records on disk: an append-only journal with a checksum per record over a snapshot, fsynced before a record counts as written. A process killed
// at any moment loses nothing that was acknowledged; a machine that lost power leaves at most a torn last record, which was not.
//
//   <dir>/snapshot       one line: checksum, blank, JSON of the snapshot and of the number of the journal that goes on from it
//   <dir>/journal.<n>    a record a line: checksum, blank, JSON
import { open, readFile, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { atomicWrite, ensureDir, readFileIfExists } from '#host';

export class JournalError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'JournalError';
  }
}

export interface OpenedJournal {
  /** The value that `compact` got last; undefined before the first time. */
  snapshot: unknown;
  /** Since then, in order. */
  records: unknown[];
  /** Bytes of a torn record that were cut off. */
  tornBytes: number;
  journal: Journal;
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0');
const lineOf = (text: string): string => `${checksum(text)} ${text}\n`;
/** The JSON of a whole line, or undefined for a damaged one. */
function textOf(line: string): string | undefined {
  const text = line.slice(9);
  return line[8] === ' ' && checksum(text) === line.slice(0, 8) ? text : undefined;
}
const journalPath = (dir: string, number: number): string => join(dir, `journal.${number}`);

async function readSnapshot(dir: string): Promise<{ number: number; snapshot: unknown }> {
  const content = (await readFileIfExists(join(dir, 'snapshot')))?.toString('utf8');
  if (content === undefined) return { number: 0, snapshot: undefined };
  const text = textOf(content.trimEnd());
  if (text === undefined) throw new JournalError(`${join(dir, 'snapshot')} is damaged`);
  return JSON.parse(text) as { number: number; snapshot: unknown };
}

/** Whole records, and how many bytes they take. Only the end may be damaged. */
export function readRecords(content: Buffer, path: string): { records: unknown[]; bytes: number } {
  const records: unknown[] = [];
  let bytes = 0;
  while (bytes < content.length) {
    const end = content.indexOf(10, bytes);
    const text = end < 0 ? undefined : textOf(content.toString('utf8', bytes, end));
    if (text === undefined) {
      // A torn write is the last one: a whole record after a damaged one means that the disk lost something that was acknowledged.
      const rest = end < 0 ? [] : content.toString('utf8', end + 1).split('\n');
      if (rest.some((line) => textOf(line) !== undefined)) throw new JournalError(`${path} is damaged at byte ${bytes}`);
      break;
    }
    records.push(JSON.parse(text));
    bytes = end + 1;
  }
  return { records, bytes };
}

/** Opens or makes the journal in a folder. Rejects with JournalError when it is damaged beyond a torn end. */
export async function openJournal(dir: string): Promise<OpenedJournal> {
  await ensureDir(dir);
  const { number, snapshot } = await readSnapshot(dir);
  const path = journalPath(dir, number);
  // Of a compaction that did not come to its end, and of the one before.
  for (const stale of [number - 1, number + 1]) await rm(journalPath(dir, stale), { force: true });
  const file = await open(path, 'a+', 0o600);
  try {
    const content = await readFile(path);
    const { records, bytes } = readRecords(content, path);
    if (bytes < content.length) await file.truncate(bytes);
    await file.sync();
    await syncDir(dir);
    return { snapshot, records, tornBytes: content.length - bytes, journal: new Journal(dir, number, file, bytes) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function syncDir(path: string): Promise<void> {
  const dir = await open(path, 'r');
  try {
    await dir.sync();
  } finally {
    await dir.close();
  }
}

/** What is to be done, in order. */
interface Job {
  /** Lines to append; '' only waits for what is before it. */
  text: string;
  /** Fold everything before into this instead. */
  snapshot?: unknown;
  resolve(): void;
  reject(error: Error): void;
}

export class Journal {
  readonly #dir: string;
  #number: number;
  #file: FileHandle;
  #bytes: number;
  #jobs: Job[] = [];
  #working = false;
  #failed: JournalError | undefined;

  constructor(dir: string, number: number, file: FileHandle, bytes: number) {
    this.#dir = dir;
    this.#number = number;
    this.#file = file;
    this.#bytes = bytes;
  }
  /** Why nothing can be written any more. */
  get failed(): JournalError | undefined {
    return this.#failed;
  }
  /** Since the last snapshot. */
  get bytes(): number {
    return this.#bytes;
  }
  /** Resolves when the record, and all before it, are on disk. After a failure everything rejects: what is on disk is not known any more. */
  append(record: unknown): Promise<void> {
    return this.#ask({ text: lineOf(JSON.stringify(record)) });
  }
  /** Resolves when everything appended so far is on disk. */
  flushed(): Promise<void> {
    return this.#ask({ text: '' });
  }
  /** Goes on from this snapshot, which holds everything appended so far, with an empty journal. */
  compact(snapshot: unknown): Promise<void> {
    return this.#ask({ text: '', snapshot });
  }
  async close(): Promise<void> {
    await this.flushed().catch(() => {});
    await this.#file.close();
  }

  #ask(job: Pick<Job, 'text' | 'snapshot'>): Promise<void> {
    if (this.#failed) return Promise.reject(this.#failed);
    const done = new Promise<void>((resolve, reject) => void this.#jobs.push({ ...job, resolve, reject }));
    if (!this.#working) void this.#work();
    return done;
  }
  async #work(): Promise<void> {
    this.#working = true;
    // Everything asked for in this turn goes into one write.
    await Promise.resolve();
    while (this.#jobs.length > 0) {
      const [first] = this.#jobs as [Job];
      const next = this.#jobs.findIndex(({ snapshot }) => snapshot !== undefined);
      const jobs = this.#jobs.splice(0, next === 0 ? 1 : next < 0 ? this.#jobs.length : next);
      try {
        if (this.#failed) throw this.#failed;
        await (next === 0 ? this.#replace(first.snapshot) : this.#write(jobs.map(({ text }) => text).join('')));
        for (const { resolve } of jobs) resolve();
      } catch (error) {
        this.#failed ??= new JournalError(`cannot write to ${this.#dir}: ${String(error)}`, error);
        for (const { reject } of jobs) reject(this.#failed);
      }
    }
    this.#working = false;
  }
  async #write(text: string): Promise<void> {
    if (text === '') return;
    await this.#file.appendFile(text);
    await this.#file.datasync();
    this.#bytes += Buffer.byteLength(text);
  }
  async #replace(snapshot: unknown): Promise<void> {
    const number = this.#number + 1;
    const next = await open(journalPath(this.#dir, number), 'a', 0o600);
    try {
      await next.sync();
      await atomicWrite(join(this.#dir, 'snapshot'), lineOf(JSON.stringify({ number, snapshot })));
    } catch (error) {
      await next.close();
      throw error;
    }
    const old = this.#file;
    this.#file = next;
    this.#bytes = 0;
    this.#number = number;
    await old.close();
    await rm(journalPath(this.#dir, number - 1), { force: true });
  }
}
