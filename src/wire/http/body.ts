// Collects a body that is bounded in size and in time (RFC 9112 section 6.3 lets a peer announce more than it ever sends).
import type { Readable } from 'node:stream';
import { limits } from '../limits.ts';
import { BodyTimeoutError, BodyTooLargeError, ClientGoneError } from './types.ts';

const emptyBody = Buffer.alloc(0);

export interface BodyBounds {
  /** The content-length header, if any. */
  announced?: string | undefined;
  bytesMax: number;
  timeoutMs?: number;
  /** Calls back when the exchange is over: nobody needs the body any more, whatever the client goes on sending. */
  onOver?(callback: () => void): void;
}

export function collectBody(stream: Readable, { announced, bytesMax, timeoutMs, onOver }: BodyBounds): Promise<Buffer> {
  if (announced !== undefined && Number(announced) > bytesMax) return Promise.reject(new BodyTooLargeError(bytesMax));
  if (stream.readableEnded) return Promise.resolve(emptyBody);
  if (stream.destroyed) return Promise.reject(new ClientGoneError());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let over = false;
    const settle = (): boolean => {
      if (over) return false;
      over = true;
      clearTimeout(timer);
      stream.removeListener('data', onData);
      return true;
    };
    /** Leaves the rest unread: how much more of it is taken is decided where the connection is closed. */
    const fail = (error: () => Error): void => {
      if (!settle()) return;
      stream.pause();
      reject(error());
    };
    // Each piece costs some hundred bytes and a call, however small it is.
    const isCrumbled = (): boolean => chunks.length > limits.bodyPiecesMax && bytes < chunks.length * limits.bodyPieceBytesMin;
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (isCrumbled()) {
        fail(() => new ClientGoneError());
        stream.destroy();
      } else if (bytes > bytesMax) fail(() => new BodyTooLargeError(bytesMax));
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => fail(() => new BodyTimeoutError()), timeoutMs);
    timer?.unref();
    stream.on('data', onData);
    stream.once('end', () => {
      if (settle()) resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes));
    });
    // Every request is closed in the end; an error with its stack is made only for those that were cut off.
    const gone = (): void => fail(() => new ClientGoneError());
    stream.once('aborted', gone);
    stream.once('error', gone);
    stream.once('close', gone);
    onOver?.(gone);
  });
}
