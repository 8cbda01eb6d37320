// The end of a file, read from its end.
import type { FileHandle } from 'node:fs/promises';
import { isErrno } from '#host';
import { parseLogLine } from './cri-log.ts';
import { openLog } from './log-file.ts';

const chunkBytes = 16 * 1024;
const newline = 0x0a;

/** The offset at which the last `lines` lines of a file begin. */
export async function tailOffset(file: FileHandle, lines: number): Promise<number> {
  const { size } = await file.stat();
  let left = lines;
  const buffer = Buffer.alloc(chunkBytes);
  for (let end = size; end > 0; end -= chunkBytes) {
    const start = Math.max(0, end - chunkBytes);
    const { bytesRead } = await file.read(buffer, 0, end - start, start);
    for (let index = bytesRead - 1; index >= 0; index--) {
      if (buffer[index] !== newline || start + index === size - 1) continue;
      if (--left === 0) return start + index + 1;
    }
    if (left <= 0) return size;
  }
  return lines <= 0 ? size : 0;
}

/** The last bytes of a file; undefined when the file does not exist. */
export async function lastBytes(open: () => Promise<FileHandle>, bytesMax: number): Promise<Buffer | undefined> {
  try {
    const file = await open();
    try {
      const { size } = await file.stat();
      const length = Math.min(size, bytesMax);
      const buffer = Buffer.alloc(length);
      await file.read(buffer, 0, length, size - length);
      return buffer;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** The last lines a container wrote, without time and stream, at most so many bytes. */
export async function lastLogText(path: string, linesMax: number, bytesMax: number): Promise<string> {
  const raw = await lastBytes(() => openLog(path), bytesMax * 4);
  if (raw === undefined) return '';
  const lines = raw
    .toString('latin1')
    .split('\n')
    .slice(-linesMax - 1);
  const texts = lines.flatMap((line) => {
    const parsed = parseLogLine(Buffer.from(line, 'latin1'));
    return parsed ? [parsed.partial ? parsed.text : Buffer.concat([parsed.text, Buffer.from('\n')])] : [];
  });
  const all = Buffer.concat(texts);
  return all.subarray(Math.max(0, all.length - bytesMax)).toString('utf8');
}
