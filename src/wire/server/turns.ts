// HTTP/1.1 lets a client send requests before it has the answers to earlier ones (RFC 9112 section 9.3.2). They are carried out one by one.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../limits.ts';

const waiting = new WeakMap<Socket, number>();

/** Begins a request once it is its turn to be answered. One on a connection that has been ended is not begun, one too many ends its connection. */
export function inTurn(response: ServerResponse, connection: Socket, begin: () => void): void {
  if (connection.writableEnded) return;
  if (response.socket !== null) return begin();
  const count = (waiting.get(connection) ?? 0) + 1;
  if (count > limits.queuedRequestsMax) return void connection.destroy();
  waiting.set(connection, count);
  // Node says this to a response when those before it have gone out.
  response.once('socket', () => {
    waiting.set(connection, (waiting.get(connection) ?? 1) - 1);
    if (!connection.destroyed) begin();
  });
}
