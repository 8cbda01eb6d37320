// Collects a bounded request body.
import type { Readable } from 'node:stream';
import { BodyTooLargeError, ClientGoneError } from './types.ts';

const emptyBody = Buffer.alloc(0);

/** `announced` is the content-length header, if any. */
export function collectBody(stream: Readable, announced: string | undefined, bytesMax: number): Promise<Buffer> {
  if (announced !== undefined && Number(announced) > bytesMax) return Promise.reject(new BodyTooLargeError(bytesMax));
  if (stream.readableEnded) return Promise.resolve(emptyBody);
  if (stream.destroyed) return Promise.reject(new ClientGoneError());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= bytesMax) return;
      stream.removeListener('data', onData);
      stream.resume();
      reject(new BodyTooLargeError(bytesMax));
    };
    stream.on('data', onData);
    let ended = false;
    stream.once('end', () => {
      ended = true;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes));
    });
    // Every request is closed in the end; an error with its stack is made only for those that were cut off.
    const gone = (): void => {
      if (!ended) reject(new ClientGoneError());
    };
    stream.once('aborted', gone);
    stream.once('error', gone);
    stream.once('close', gone);
  });
}
