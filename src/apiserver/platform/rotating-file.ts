// A file that is renamed when it grows too large, and whose old parts are packed and removed as their number and age say (lumberjack, as
// kube-apiserver's --audit-log-max* flags mean it). Lines that come while others are being written go out together.
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { ensureDir, isErrno } from '#host';
import type { Clock } from '#utils';

/** Takes lines of text, in order. */
export interface LineWriter {
  /** Rejects with what went wrong. */
  write(lines: string): Promise<void>;
  close(): Promise<void>;
}

export interface RotationOptions {
  /** 0: the file is not rotated. */
  megabytesMax: number;
  /** 0: no limit. */
  daysMax: number;
  backupsMax: number;
  compress: boolean;
}

const megabyte = 1024 * 1024;
const dayMs = 24 * 3_600_000;

/** `audit-2026-01-31T12-00-00.000.log` of `audit.log`. */
const backupName = (path: string, nowMs: number): string => {
  const end = extname(path);
  const time = new Date(nowMs).toISOString().slice(0, -1).replaceAll(':', '-');
  return join(dirname(path), `${basename(path, end)}-${time}${end}`);
};

/** When a file of the folder was put aside; undefined when the file is not one that was put aside here. */
function backupTime(path: string, name: string): number | undefined {
  const end = extname(path);
  const start = `${basename(path, end)}-`;
  const plain = name.endsWith('.gz') ? name.slice(0, -3) : name;
  if (!plain.startsWith(start) || !plain.endsWith(end)) return undefined;
  const text = plain.slice(start.length, plain.length - end.length);
  const parts = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(text);
  return parts ? Date.parse(`${parts[1]}T${parts[2]}:${parts[3]}:${parts[4]}Z`) : undefined;
}

async function pack(path: string): Promise<void> {
  const { mode } = await stat(path);
  await pipeline(createReadStream(path), createGzip(), createWriteStream(`${path}.gz`, { mode }));
  await rm(path);
}

interface Waiting {
  text: string;
  done(error?: Error): void;
}

export class RotatingFile implements LineWriter {
  readonly #path: string;
  readonly #options: RotationOptions;
  readonly #clock: Clock;
  #file: FileHandle | undefined;
  #size = 0;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #tidying: Promise<void> = Promise.resolve();

  private constructor(path: string, options: RotationOptions, clock: Clock) {
    this.#path = path;
    this.#options = options;
    this.#clock = clock;
  }

  /** Makes the folder (0700) and the file (0600) where they are missing. Rejects when the file cannot be opened. */
  static async open(path: string, options: RotationOptions, clock: Clock): Promise<RotatingFile> {
    await ensureDir(dirname(path));
    const file = new RotatingFile(path, options, clock);
    await file.#open();
    file.#tidy();
    return file;
  }

  write(lines: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text: lines, done: (error) => (error ? reject(error) : resolve()) });
      this.#writing ??= this.#run();
    });
  }

  async close(): Promise<void> {
    while (this.#writing) await this.#writing;
    await this.#tidying;
    await this.#file?.close();
    this.#file = undefined;
  }

  async #open(): Promise<void> {
    this.#file = await open(this.#path, 'a', 0o600);
    this.#size = (await this.#file.stat()).size;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      let failure: Error | undefined;
      try {
        await this.#append(Buffer.from(batch.map(({ text }) => text).join('')));
      } catch (error) {
        failure = error as Error;
      }
      for (const { done } of batch) done(failure);
    }
    this.#writing = undefined;
  }

  /** What fits the file together; at least one. */
  #take(): Waiting[] {
    const { megabytesMax } = this.#options;
    if (megabytesMax === 0) return this.#waiting.splice(0);
    let room = megabytesMax * megabyte - this.#size;
    let count = 0;
    for (const { text } of this.#waiting) {
      room -= Buffer.byteLength(text);
      if (room < 0 && count > 0) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #append(bytes: Buffer): Promise<void> {
    const bytesMax = this.#options.megabytesMax * megabyte;
    if (bytesMax > 0 && bytes.length > bytesMax)
      throw new Error(`write length ${bytes.length} exceeds maximum file size ${bytesMax}`);
    if (bytesMax > 0 && this.#size + bytes.length > bytesMax) await this.#rotate();
    if (!this.#file) await this.#open();
    await (this.#file as FileHandle).appendFile(bytes);
    this.#size += bytes.length;
  }

  async #rotate(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
    try {
      await rename(this.#path, backupName(this.#path, this.#clock.now()));
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
    }
    await this.#open();
    this.#tidy();
  }

  /** Old parts are seen to while lines are written on. What cannot be packed or removed is left for the next time. */
  #tidy(): void {
    this.#tidying = this.#tidying.then(() => this.#removeOld()).catch(() => undefined);
  }

  async #removeOld(): Promise<void> {
    const { daysMax, backupsMax, compress } = this.#options;
    const folder = dirname(this.#path);
    const found = (await readdir(folder))
      .map((name) => ({ name, atMs: backupTime(this.#path, name) }))
      .filter((one): one is { name: string; atMs: number } => one.atMs !== undefined)
      .sort((a, b) => b.atMs - a.atMs);
    const oldestMs = daysMax > 0 ? this.#clock.now() - daysMax * dayMs : Number.NEGATIVE_INFINITY;
    for (const [at, { name, atMs }] of found.entries()) {
      const path = join(folder, name);
      if ((backupsMax > 0 && at >= backupsMax) || atMs < oldestMs) await rm(path, { force: true });
      else if (compress && !name.endsWith('.gz')) await pack(path);
    }
  }
}

/** The writer of a log that goes to standard output, which flags call `-`. */
export const standardOutput: LineWriter = {
  write: (lines) =>
    new Promise((resolve, reject) => {
      process.stdout.write(lines, (error) => (error ? reject(error) : resolve()));
    }),
  close: () => Promise.resolve(),
};
