import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { silentLogger } from '#utils';
import { openPortMappings } from './port-mappings.ts';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
/** All that the other side says, without closing this one. */
async function heard(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'end');
  return text;
}
const host = '127.0.0.1';

it('carries connections to the node both ways, also half closed, and lets the port go', async () => {
  const node = createServer({ allowHalfOpen: true }, async (socket) => socket.end(`you said ${await heard(socket)}`)).listen(
    0,
    host,
  );
  await once(node, 'listening');
  const { port } = node.address() as AddressInfo;
  const hostPort = await freePort();
  const dialled: unknown[] = [];
  const mapped = await openPortMappings([{ node: 1, listenAddress: host, hostPort, containerPort: 30_080 }], {
    addressOf: (number) => (number === 1 ? '10.77.16.11' : undefined),
    dial: async (target) => {
      dialled.push(target);
      const socket = connect({ host, port, allowHalfOpen: true });
      await once(socket, 'connect');
      return socket;
    },
    logger: silentLogger,
  });
  const client = connect({ host, port: hostPort, allowHalfOpen: true });
  client.end('hello');
  expect(await heard(client)).toBe('you said hello');
  expect(dialled).toEqual([{ host: '10.77.16.11', port: 30_080 }]);
  await expect(
    openPortMappings([{ node: 0, listenAddress: host, hostPort, containerPort: 1 }], {
      addressOf: () => undefined,
      dial: () => Promise.reject(new Error('not now')),
      logger: silentLogger,
    }),
  ).rejects.toThrow(`extraPortMappings: port ${hostPort} of 127.0.0.1 cannot be opened`);
  await mapped.close();
  await expect(once(connect({ host, port: hostPort }), 'connect')).rejects.toThrow('ECONNREFUSED');
  node.close();
});

it('a client that goes on talking and takes its time gets all that a node said before it was gone', async () => {
  const bytes = 4_000_000;
  const node = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {}).end(Buffer.alloc(bytes));
    socket.resume();
  }).listen(0, host);
  await once(node, 'listening');
  const { port } = node.address() as AddressInfo;
  const hostPort = await freePort();
  const mapped = await openPortMappings([{ node: 0, listenAddress: host, hostPort, containerPort: 1 }], {
    addressOf: () => host,
    dial: async () => {
      const socket = connect({ host, port, allowHalfOpen: true });
      await once(socket, 'connect');
      return socket;
    },
    logger: silentLogger,
  });
  const client = connect({ host, port: hostPort, allowHalfOpen: true });
  let taken = 0;
  client.on('error', () => {});
  client.on('data', (piece: Buffer) => {
    taken += piece.length;
    // The client has nothing more to say at some point, with much still to be read.
    if (taken > bytes / 2) client.end();
    else client.write('more');
    client.pause();
    setTimeout(() => client.resume(), 1);
  });
  await once(client, 'close');
  expect(taken).toBe(bytes);
  await mapped.close();
  node.close();
});
