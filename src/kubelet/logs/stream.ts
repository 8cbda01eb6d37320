// Reads a container's log as `kubectl logs` wants it (upstream pkg/kubelet/kuberuntime/logs ReadLogs): tail, since, limits, timestamps, follow
// over rotation.
import { watch } from 'node:fs';
import { type FileHandle, lstat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isErrno } from '#host';
import type { Clock } from '#utils';
import { type LogLine, logTimeMs, parseLogLine } from './cri-log.ts';
import { openLog } from './log-file.ts';
import { tailOffset } from './tail.ts';

export interface LogRequest {
  follow: boolean;
  /** Last lines only; undefined: all. */
  tailLines?: number;
  /** Lines not older than this. */
  sinceMs?: number;
  limitBytes?: number;
  timestamps: boolean;
  /** Undefined: both. */
  stream?: 'stdout' | 'stderr';
}

export interface LogSource {
  path: string;
  clock: Clock;
  /** Whether the container still may write. */
  running(): Promise<boolean>;
}

export interface LogSink {
  /** The log is there. */
  begin(): void;
  write(chunk: Buffer): void;
  /** Resolves when more may be written. */
  drain(): Promise<void>;
  readonly signal: AbortSignal;
}

const chunkBytes = 64 * 1024;
const newline = 0x0a;
const newlineBytes = Buffer.from('\n');
/** How long to wait for notice of new lines before looking anyway. */
const lookMs = 1_000;

/** Splits what comes into log lines and lets through what was asked for. */
class LogFilter {
  readonly #request: LogRequest;
  readonly #sink: LogSink;
  #rest: Buffer = Buffer.alloc(0);
  #left: number;

  constructor(request: LogRequest, sink: LogSink) {
    this.#request = request;
    this.#sink = sink;
    this.#left = request.limitBytes ?? Number.POSITIVE_INFINITY;
  }
  /** Nothing more is wanted. */
  get full(): boolean {
    return this.#left <= 0;
  }
  push(chunk: Buffer): void {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = data.indexOf(newline); end >= 0 && !this.full; end = data.indexOf(newline, start)) {
      const line = parseLogLine(data.subarray(start, end));
      if (line && this.#wanted(line)) this.#emit(line);
      start = end + 1;
    }
    this.#rest = Buffer.from(data.subarray(start));
  }
  #wanted({ time, stream }: LogLine): boolean {
    const { stream: only, sinceMs } = this.#request;
    return (only === undefined || only === stream) && (sinceMs === undefined || logTimeMs(time) >= sinceMs);
  }
  #emit({ time, text, partial }: LogLine): void {
    const parts = [...(this.#request.timestamps ? [Buffer.from(`${time} `)] : []), text, ...(partial ? [] : [newlineBytes])];
    const line = Buffer.concat(parts);
    this.#sink.write(line.length > this.#left ? line.subarray(0, this.#left) : line);
    this.#left -= line.length;
  }
}

/** Resolves at the next change in the log's directory, after a while, or when aborted. */
function nextChange({ path, clock }: LogSource, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      timer.cancel();
      watcher?.close();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimer(lookMs, end);
    let watcher: ReturnType<typeof watch> | undefined;
    try {
      watcher = watch(dirname(path), { persistent: false }, (_, name) => {
        if (name === null || name === basename(path)) end();
      });
      watcher.on('error', end);
    } catch {
      watcher = undefined;
    }
    signal.addEventListener('abort', end, { once: true });
  });
}

/** Whether the name now is another file than the open one. */
async function replaced(file: FileHandle, path: string): Promise<boolean> {
  const [own, named] = await Promise.all([file.stat(), lstat(path).catch(() => undefined)]);
  return named !== undefined && named.ino !== own.ino;
}

async function readAll(file: FileHandle, from: number, filter: LogFilter, sink: LogSink): Promise<number> {
  const buffer = Buffer.alloc(chunkBytes);
  let at = from;
  while (!filter.full && !sink.signal.aborted) {
    const { bytesRead } = await file.read(buffer, 0, chunkBytes, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    filter.push(buffer.subarray(0, bytesRead));
    await sink.drain();
  }
  return at;
}

/** Rejects when the log cannot be opened. With `follow` it ends when the container has ended and all is read. */
export async function streamLog(source: LogSource, request: LogRequest, sink: LogSink): Promise<void> {
  const filter = new LogFilter(request, sink);
  const { path } = source;
  let file = await openLog(path);
  sink.begin();
  try {
    let at = request.tailLines === undefined ? 0 : await tailOffset(file, request.tailLines);
    for (;;) {
      at = await readAll(file, at, filter, sink);
      if (!request.follow || filter.full || sink.signal.aborted) return;
      if (await replaced(file, path)) {
        at = await readAll(file, at, filter, sink);
        await file.close();
        file = await openLog(path);
        at = 0;
        continue;
      }
      const running = await source.running();
      if (!running) {
        await readAll(file, at, filter, sink);
        return;
      }
      await nextChange(source, sink.signal);
    }
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  } finally {
    await file.close();
  }
}
