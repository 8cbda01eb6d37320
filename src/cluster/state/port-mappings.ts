// Ports of this machine that lead to a port of a node, as kind's extraPortMappings do: for programs that were written for an address of the machine.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from '#utils';
import { type Dial, pipeDuplex } from '#wire';
import type { PortMapping } from './settings.ts';

/** How many connections one mapping carries at the same time. */
const connectionsMax = 1_000;

export interface MappedPorts {
  close(): Promise<void>;
}

async function carry(near: Socket, target: { host: string; port: number }, dial: Dial): Promise<void> {
  const over = (): void => void near.destroy();
  near.on('error', over);
  const far = await dial(target).catch((error: unknown) => {
    over();
    throw error;
  });
  near.off('error', over);
  if (near.destroyed) far.destroy();
  else await pipeDuplex(near, far);
}

/**
 * Opens the port mappings. `addressOf` gives the address of a node by its number, or undefined while the node has none. Rejects with a sentence for
 * a port that cannot be opened.
 */
export async function openPortMappings(
  mappings: readonly PortMapping[],
  { addressOf, dial, logger }: { addressOf(node: number): string | undefined; dial: Dial; logger: Logger },
): Promise<MappedPorts> {
  const servers: { server: Server; sockets: Set<Socket> }[] = [];
  const close = async (): Promise<void> => {
    for (const { server, sockets } of servers.splice(0)) {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close').catch(() => {});
    }
  };
  for (const { node, listenAddress, hostPort, containerPort: port } of mappings) {
    const sockets = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      const host = addressOf(node);
      if (host === undefined) return socket.destroy();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      void carry(socket, { host, port }, dial).catch((error: unknown) =>
        logger.debug('a mapped connection has ended', { port, error: String(error) }),
      );
    });
    server.maxConnections = connectionsMax;
    try {
      server.listen(hostPort, listenAddress);
      await once(server, 'listening');
    } catch (error) {
      await close();
      throw new Error(`extraPortMappings: port ${hostPort} of ${listenAddress} cannot be opened: ${(error as Error).message}`, {
        cause: error,
      });
    }
    servers.push({ server, sockets });
  }
  return { close };
}
