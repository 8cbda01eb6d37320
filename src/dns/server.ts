// The name server's sockets: UDP and TCP, given from outside, because they may live in another network namespace.
import type { RemoteInfo, Socket as DatagramSocket } from 'node:dgram';
import type { Server, Socket } from 'node:net';
import { refusal, type Responder } from './answer.ts';
import { frame } from './forward.ts';
import { tcpConnectionsMax, tcpIdleMs, tcpUnreadBytesMax } from './limits.ts';

export interface DnsSockets {
  udp: DatagramSocket;
  tcp: Server;
}

/** Whether somebody at that address is served. */
export type Serves = (address: string) => boolean;

/** Serves until `close`, which also closes the sockets. All others than those whom it `serves` are refused. */
export function serveDns({ udp, tcp }: DnsSockets, respond: Responder, serves: Serves = () => true): { close(): void } {
  const connections = new Set<Socket>();
  let closed = false;
  // A query that cannot be answered, or whose answer comes too late, has none: no query ends the process.
  const answer = async (message: Buffer, { port, address }: RemoteInfo): Promise<void> => {
    const reply = serves(address) ? await respond(message, true) : refusal(message);
    if (reply && !closed) udp.send(reply, port, address, () => {});
  };
  udp.on('error', () => {});
  udp.on('message', (message, remote) => void answer(message, remote).catch(() => {}));
  tcp.on('connection', (socket) => {
    if (!serves(socket.remoteAddress ?? '')) return void socket.destroy();
    // The oldest makes room: those who open many and ask nothing keep nobody out.
    const [oldest] = connections;
    if (oldest && connections.size >= tcpConnectionsMax) {
      connections.delete(oldest);
      oldest.destroy();
    }
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    serveConnection(socket, respond);
  });
  return {
    close() {
      closed = true;
      udp.close();
      tcp.close();
      for (const socket of connections) socket.destroy();
    },
  };
}

function serveConnection(socket: Socket, respond: Responder): void {
  let received = Buffer.alloc(0);
  // From one whole question to the next: bytes that come one at a time do not keep a connection.
  const idle = setTimeout(() => socket.destroy(), tcpIdleMs);
  idle.unref();
  socket.once('close', () => clearTimeout(idle));
  socket.on('error', () => socket.destroy());
  const serve = async (): Promise<void> => {
    for (;;) {
      const length = received.length >= 2 ? received.readUInt16BE(0) : Number.POSITIVE_INFINITY;
      if (received.length < length + 2) return;
      const message = received.subarray(2, length + 2);
      received = received.subarray(length + 2);
      const answer = await respond(message, false);
      if (!answer) return void socket.destroy();
      idle.refresh();
      if (!socket.destroyed) socket.write(frame(answer));
      // It asks on, and reads no answer.
      if (socket.writableLength > tcpUnreadBytesMax) return void socket.destroy();
    }
  };
  let chain = Promise.resolve();
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    // Longer than any message plus one more in flight: a client that does not speak DNS.
    if (received.length > 2 * 65_537) return void socket.destroy();
    chain = chain.then(serve).catch(() => void socket.destroy());
  });
  socket.resume();
}
