// The end of a connection that a peer may not want to end: it may still be sending, and it may never answer our FIN with its own.
import type { Duplex, Readable } from 'node:stream';
import { limits } from '../limits.ts';

/**
 * Ends a connection. For a moment what the peer still sends is read and thrown away, because closing on unread bytes would reset the
 * connection under the answer (RFC 9112 section 9.6). Then the connection is closed, whether the peer has ended its side or not. `unread` is
 * the stream that the peer's bytes arrive on, where it is not the connection itself.
 */
export function endAndClose(connection: Duplex, unread: Readable = connection): void {
  const close = (): void => void connection.destroy();
  const timer = setTimeout(close, limits.lingerMs);
  timer.unref();
  connection.once('close', () => clearTimeout(timer));
  let bytes = 0;
  unread.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > limits.lingerBytesMax) close();
  });
  connection.once('end', close);
  connection.end();
  unread.resume();
}

/**
 * Ends a connection whose peer may still have much to read. Who has not ended its side after `unsentMs` loses it, and after `sentMs` from the moment on
 * that all of it has gone out: to our kernel, where megabytes of it may wait for a reader that rests. A kernel whose socket was closed answers the
 * peer's next byte with a reset, and throws those away.
 */
export function endInTime(
  connection: Duplex,
  unsentMs = limits.stallTimeoutMs,
  sentMs = Math.min(unsentMs, limits.stallTimeoutMs),
): void {
  let timer: NodeJS.Timeout | undefined;
  const wait = (ms: number): void => {
    clearTimeout(timer);
    if (!connection.destroyed) timer = setTimeout(() => connection.destroy(), ms).unref();
  };
  wait(unsentMs);
  connection.once('close', () => clearTimeout(timer));
  connection.end(() => wait(sentMs));
}
