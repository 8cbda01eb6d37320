// A unix socket of this machine that leads to a control plane which is in none of its networks. Other commands of the cluster's owner use it.
import { rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeDuplex } from '#wire';

/** Hands connections on, as they are. Gives what ends it, with all connections. */
export async function relay(path: string, open: () => Promise<Duplex>): Promise<() => Promise<void>> {
  const sockets = new Set<Socket>();
  const join = async (socket: Socket): Promise<void> => {
    const far = await open();
    if (socket.destroyed) far.destroy();
    else await pipeDuplex(socket, far);
  };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => {});
    join(socket).catch(() => socket.destroy());
  });
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
}
