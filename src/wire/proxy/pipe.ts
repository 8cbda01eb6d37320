// Joins two byte streams, with back-pressure and half-close.
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { lossOf } from '../http/hear-out.ts';
import { endInTime } from '../http/linger.ts';
import { limits } from '../limits.ts';

/** Ends a connection so that its peer does not take what has come for all: bare TCP is reset; TLS tells by the good-bye that is missing. */
export function cutOff(stream: Duplex): void {
  if (stream instanceof Socket && !(stream instanceof TLSSocket) && stream.remoteFamily !== undefined) stream.resetAndDestroy();
  else stream.destroy();
}

/**
 * Passes bytes both ways; an end on one side ends the other's input. Resolves when both are over. A failure on one side ends both. `restMs`: what `a` may
 * take to read what has gone out to it, when `b` is over.
 */
export function pipeDuplex(a: Duplex, b: Duplex, restMs = limits.stallTimeoutMs): Promise<void> {
  return new Promise((resolve) => {
    let open = 2;
    const lost = (other: Duplex, self: Duplex): void => {
      // A reset, not an end: the other side must not wait for more.
      if (!self.readableEnded) cutOff(other);
      // All it said has been read, and the other side may still be taking it. `pipe` stops reading once its target takes no more; what still comes
      // has nowhere to go, but its end must be seen.
      else other.resume();
      // Who never ends his own side does not keep the connection.
      if (self.closed && !other.destroyed)
        endInTime(other, limits.unreadEndTimeoutMs, other === a ? restMs : limits.stallTimeoutMs);
    };
    const closed = (other: Duplex, self: Duplex) => (): void => {
      lost(other, self);
      if (--open === 0) resolve();
    };
    for (const [other, self] of [
      [b, a],
      [a, b],
    ] as const) {
      self.on('error', () => lost(other, self));
      self.once('end', () => lossOf(self) && cutOff(other));
      // One that is gone already says so no more.
      if (self.closed) process.nextTick(closed(other, self));
      else self.once('close', closed(other, self));
    }
    a.pipe(b);
    b.pipe(a);
  });
}

/**
 * Joins a client whose connection was upgraded with its backend. Once the backend has ended, the client has `limits.unreadEndTimeoutMs` to read what it said
 * and to end, too.
 */
export function joinUpgraded(client: Duplex, backend: Duplex): Promise<void> {
  backend.once('end', () => endInTime(client, limits.unreadEndTimeoutMs, limits.unreadEndTimeoutMs));
  return pipeDuplex(client, backend, limits.unreadEndTimeoutMs);
}
