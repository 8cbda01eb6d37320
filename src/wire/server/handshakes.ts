// TLS handshakes of clients that come together are begun a few in each turn of the event loop, the addresses by turns: each takes about a millisecond, and
// Node would do all of those in one turn whose first bytes have come. Who has sent nothing yet waits outside and holds back nobody.
import type { Server, Socket } from 'node:net';
import type { ServerLimits } from './options.ts';
import type { Queue } from './queue.ts';

/** `server`: a TLS server that nobody has connected to yet. `queue`: has the remote addresses for senders. */
export function beginHandshakesInTurn(
  server: Server,
  queue: Queue<string>,
  limits: Pick<ServerLimits, 'handshakeTimeoutMs'>,
): void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const giveUp = (): void => void socket.destroy();
    const begin = (): void => {
      socket.setTimeout(0, giveUp);
      for (const listener of listeners) Reflect.apply(listener, server, [socket]);
    };
    socket.setTimeout(limits.handshakeTimeoutMs, giveUp);
    socket.on('error', () => {});
    socket.once('readable', () => queue.add(socket.remoteAddress ?? '', { gone: () => socket.destroyed, begin }));
  });
}
