// The way out of a complete answer. A peer that takes nothing of it must not keep it, or the connection, for ever.
import type { Writable } from 'node:stream';
import { limits } from '../limits.ts';

export interface OutflowOptions {
  stallTimeoutMs: number;
  /** Cuts the exchange off: the peer has taken nothing for too long. */
  giveUp(): void;
}

/** Writes the last of an answer, in pieces as the peer takes them, and ends the stream. */
export function endWith(
  stream: Writable,
  last: Uint8Array | string | undefined,
  { stallTimeoutMs, giveUp }: OutflowOptions,
): void {
  const bytes = typeof last === 'string' && last.length > limits.answerPieceBytes ? Buffer.from(last) : last;
  let at = 0;
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    if (stream.writableFinished || stream.destroyed) return;
    if (timer) return void timer.refresh();
    timer = setTimeout(giveUp, stallTimeoutMs);
    timer.unref();
    stream.once('close', () => clearTimeout(timer));
  };
  const goOn = (): void => {
    if (stream.destroyed) return;
    if (bytes === undefined || typeof bytes === 'string') stream.end(bytes);
    else {
      for (; bytes.length - at > limits.answerPieceBytes; ) {
        const piece = bytes.subarray(at, (at += limits.answerPieceBytes));
        if (stream.write(piece)) continue;
        stream.once('drain', goOn);
        return wait();
      }
      stream.end(bytes.subarray(at));
    }
    wait();
  };
  goOn();
}
