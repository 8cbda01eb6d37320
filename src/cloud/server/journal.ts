// Records on disk: an append-only journal with a checksum per record over a snapshot, fsynced before a record counts as written. A process killed
// at any moment loses nothing that was acknowledged; a machine that lost power leaves at most a torn last record, which was not. What is missing or
// damaged beyond that is named and refused: a file beside the journal says, a moment after each write, how much of it was acknowledged.
//
//   <dir>/snapshot       one line: checksum, blank, JSON of the snapshot and of the number of the journal that goes on from it
//   <dir>/journal.<n>    a record a line: checksum, blank, JSON
//   <dir>/end            one line: checksum, blank, JSON of the number of the journal and of how many bytes of it at least are acknowledged
import { open, readdir, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { atomicWrite, ensureDir, readFileIfExists, syncDir } from '#host';
import type { Clock, Timer } from '#utils';
import { limits } from './limits.ts';

export class JournalError extends Error {
  /** The disk is full: it is tried again. */
  readonly mends: boolean;

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'JournalError';
    this.mends = isNoRoom(cause);
  }
}

/** Errors of a disk that has no room now, and may have some later. After any other what is on disk is not known any more. */
const noRoom = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const isNoRoom = (error: unknown): boolean => error instanceof Error && noRoom.has((error as NodeJS.ErrnoException).code ?? '');

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

const damaged = (path: string, what: string): JournalError =>
  new JournalError(
    `${path} is damaged: ${what}; nothing was changed. Put the folder ${dirname(path)} back from a copy of it, or move it away to begin with an empty cloud`,
  );

/** The value of a file of one line; undefined when there is no file, 'damaged' when it is not whole. */
async function readLine(path: string): Promise<unknown> {
  const content = (await readFileIfExists(path))?.toString('utf8');
  if (content === undefined) return undefined;
  const text = content.endsWith('\n') ? textOf(content.slice(0, -1)) : undefined;
  return text === undefined ? 'damaged' : JSON.parse(text);
}

async function readSnapshot(dir: string): Promise<{ number: number; snapshot: unknown }> {
  const path = join(dir, 'snapshot');
  const found = await readLine(path);
  if (found === 'damaged') throw damaged(path, 'it does not match its checksum');
  return found === undefined ? { number: 0, snapshot: undefined } : (found as { number: number; snapshot: unknown });
}

/** How far a journal is known to have been acknowledged. */
interface End {
  number: number;
  bytes: number;
}

/**
 * Reads how far the journal must reach. A journal from before there was such a file has none, and one that is damaged says nothing: what it
 * guards is judged by itself then.
 */
async function readEnd(dir: string): Promise<End | undefined> {
  const found = await readLine(join(dir, 'end'));
  return found === 'damaged' ? undefined : (found as End | undefined);
}

const writeEnd = (dir: string, end: End): Promise<void> => atomicWrite(join(dir, 'end'), lineOf(JSON.stringify(end)));

/** Whole records, and how many bytes they take. What follows them may only be one record whose write was cut off, after all that was acknowledged. */
export function readRecords(content: Buffer, path: string, acknowledged = 0): { records: unknown[]; bytes: number } {
  const records: unknown[] = [];
  let bytes = 0;
  while (bytes < content.length) {
    const end = content.indexOf(10, bytes);
    const text = end < 0 ? undefined : textOf(content.toString('utf8', bytes, end));
    if (text === undefined) {
      if (end >= 0 && end < content.length - 1) throw damaged(path, `the record at byte ${bytes} does not match its checksum`);
      break;
    }
    records.push(JSON.parse(text));
    bytes = end + 1;
  }
  if (bytes >= acknowledged) return { records, bytes };
  throw content.length < acknowledged
    ? damaged(path, `it was cut: ${content.length} bytes are left of ${acknowledged} or more`)
    : damaged(path, `the record at byte ${bytes} does not match its checksum`);
}

/** The journal's content, as far as it is whole. Rejects with JournalError when something is missing or damaged beyond a torn end. */
async function readJournal(
  dir: string,
  path: string,
  number: number,
): Promise<{ records: unknown[]; bytes: number; torn: number }> {
  const end = await readEnd(dir);
  if (end && end.number > number) throw damaged(join(dir, 'snapshot'), `it is older than journal.${end.number}, or gone`);
  const content = await readFileIfExists(path);
  // A compaction makes the next journal before the snapshot that names it, and removes the one before after that.
  if (!content && (number > 0 || (await readdir(dir)).some((name) => name.startsWith('journal.'))))
    throw damaged(path, 'it is gone');
  if (content?.length === 0 && number === 0 && !end) throw damaged(path, 'it is empty, and nothing says that it was');
  const { records, bytes } = readRecords(content ?? Buffer.alloc(0), path, end?.number === number ? end.bytes : 0);
  return { records, bytes, torn: (content?.length ?? 0) - bytes };
}

/** Opens or makes the journal in a folder. Rejects with JournalError when it is damaged beyond a torn end; nothing is changed then. */
export async function openJournal(dir: string, clock: Clock): Promise<OpenedJournal> {
  await ensureDir(dir);
  const { number, snapshot } = await readSnapshot(dir);
  const path = journalPath(dir, number);
  const { records, bytes, torn } = await readJournal(dir, path, number);
  // Of a compaction that did not come to its end, and of the one before.
  for (const stale of [number - 1, number + 1]) await rm(journalPath(dir, stale), { force: true });
  // From now on all records that were just read must be there at the next start. This is noted before a new journal is made: a crash in between leaves a
  // note of an empty journal, which is what it will be.
  await writeEnd(dir, { number, bytes });
  const file = await open(path, 'a+', 0o600);
  try {
    if (torn > 0) await file.truncate(bytes);
    await file.sync();
    await syncDir(dir);
    return { snapshot, records, tornBytes: torn, journal: new Journal(dir, number, file, bytes, clock) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** What is to be done, in order. */
interface Job {
  /** Lines to append; '' only waits for what is before it. */
  text: string;
  /** Fold everything before into this instead. */
  snapshot?: unknown;
  /** Say in the file beside it how far the journal reaches. */
  note?: boolean;
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
  readonly #clock: Clock;
  #noting: Timer | undefined;
  #mending: Timer | undefined;

  constructor(dir: string, number: number, file: FileHandle, bytes: number, clock: Clock) {
    this.#dir = dir;
    this.#number = number;
    this.#file = file;
    this.#bytes = bytes;
    this.#clock = clock;
  }
  /** Why nothing can be written, for now or, unless the disk was full, any more. */
  get failed(): JournalError | undefined {
    return this.#failed;
  }
  /** Since the last snapshot. */
  get bytes(): number {
    return this.#bytes;
  }
  /**
   * Resolves when the record, and all before it, are on disk. After a failure everything rejects: what is on disk is not known any more, or, of a disk
   * that is full, until a moment after it has room again. What was rejected is not in the journal.
   */
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
    this.#noting?.cancel();
    this.#mending?.cancel();
    await this.#ask({ text: '', note: true }).catch(() => {});
    await this.#file.close();
  }

  #ask(job: Pick<Job, 'text' | 'snapshot' | 'note'>): Promise<void> {
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
        if (jobs.some(({ note }) => note)) await this.#note();
        for (const { resolve } of jobs) resolve();
      } catch (error) {
        const isUndone = next === 0 && !this.#failed && (await this.#isReplaceUndone(error));
        const failure = new JournalError(`cannot write to ${this.#dir}: ${String(error)}`, error);
        if (!isUndone) this.#fail(failure);
        for (const { reject } of jobs) reject(this.#failed ?? failure);
      }
    }
    this.#working = false;
  }
  #fail(failure: JournalError): void {
    if (this.#failed) return;
    this.#failed = failure;
    if (failure.mends) this.#mendLater();
  }
  #mendLater(): void {
    this.#mending = this.#clock.setTimer(limits.mendMs, () => void this.#mend().catch(() => this.#mendLater()));
  }
  /** Takes back what a full disk took a part of. Rejects as long as there is no room. */
  async #mend(): Promise<void> {
    await this.#file.truncate(this.#bytes);
    await this.#file.datasync();
    await writeEnd(this.#dir, { number: this.#number, bytes: this.#bytes });
    this.#failed = undefined;
  }
  /** Whether a snapshot that the full disk did not take has left the journal as it was. */
  async #isReplaceUndone(error: unknown): Promise<boolean> {
    if (!isNoRoom(error)) return false;
    const number = await readSnapshot(this.#dir).then(
      (found) => found.number,
      () => undefined,
    );
    if (number !== this.#number) return false;
    await rm(journalPath(this.#dir, number + 1), { force: true }).catch(() => {});
    return true;
  }
  async #write(text: string): Promise<void> {
    if (text === '') return;
    await this.#file.appendFile(text);
    await this.#file.datasync();
    this.#bytes += Buffer.byteLength(text);
    this.#noting ??= this.#clock.setTimer(limits.noteDelayMs, () => void this.#ask({ text: '', note: true }).catch(() => {}));
  }
  /** Writes down how far the journal reaches. A failure is passed over: a disk that takes no note takes the next record no more, and that one fails aloud. */
  async #note(): Promise<void> {
    this.#noting?.cancel();
    this.#noting = undefined;
    await writeEnd(this.#dir, { number: this.#number, bytes: this.#bytes }).catch(() => {});
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
    await this.#note();
    await rm(journalPath(this.#dir, number - 1), { force: true });
  }
}
