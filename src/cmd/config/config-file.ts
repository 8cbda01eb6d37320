// The file of `--config`, which may be standard input or a pipe and then can be read once only: whoever begins a child hands the text on to it.
import { readFileSync } from 'node:fs';

/** Text of the file; `-` is standard input. Throws a sentence where it cannot be read. */
export function readConfig(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    throw new Error(`--config: ${(error as Error).message}`, { cause: error });
  }
}
