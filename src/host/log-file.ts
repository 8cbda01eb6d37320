// A file that log lines are appended to, whatever becomes of its disk: what cannot be written, or not fast enough, is dropped and counted, and
// the first line that can be written again says how much is missing. Nobody's work ends, or waits, because its log is full.
import { type FileHandle, open } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { limits } from './limits.ts';

/** Opened at the first line (mode 0600). The stream never fails and never makes its writers wait. */
export function openLogFile(path: string): Writable {
  const file = new LogFile(path);
  const stream = new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _, done) {
      file.append(chunk);
      done();
    },
    final: (done) => void file.close().then(() => done()),
  });
  // A program may still say something when its log was ended with it. That is dropped: Writable would call it an error.
  const write = stream.write.bind(stream) as (...words: unknown[]) => boolean;
  stream.write = (...words: unknown[]) => stream.writableEnded || write(...words);
  return stream;
}

class LogFile {
  readonly #path: string;
  #file: FileHandle | undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #lostLines = 0;

  constructor(path: string) {
    this.#path = path;
  }

  append(chunk: Buffer): void {
    if (this.#waitingBytes + chunk.length > limits.logBufferBytesMax) return this.#lose(chunk);
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    this.#writing ??= this.#write();
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.close().catch(() => {});
    this.#file = undefined;
  }

  /** Never rejects. */
  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const text = Buffer.concat(this.#waiting.splice(0));
      this.#waitingBytes = 0;
      try {
        this.#file ??= await open(this.#path, 'a', 0o600);
        if (this.#lostLines > 0) await this.#file.appendFile(`... ${this.#lostLines} lines could not be written here\n`);
        this.#lostLines = 0;
        await this.#file.appendFile(text);
      } catch {
        this.#lose(text);
        await this.#file?.close().catch(() => {});
        this.#file = undefined;
      }
    }
    this.#writing = undefined;
  }

  #lose(text: Buffer): void {
    for (const byte of text) if (byte === 10) this.#lostLines++;
  }
}
