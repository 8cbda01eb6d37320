// Node stops reading a connection whose last answer has not all gone out when the next request begins. A client may well have that answer already, for the
// system tells us later than it tells him. On TLS what comes next is decrypted all the same, and Node's parser, which was stopped, takes it for bad HTTP:
// a request of more than one TLS record would be answered 400.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** What Node notes on a connection that it has stopped for this. */
interface Stopped {
  _paused?: boolean;
}

/**
 * Undoes Node's stop for a request that has a body; a body that nobody reads stops the connection by itself. To be called while Node emits the request,
 * since its parser stops right after that.
 */
export function readOn({ socket, headers }: IncomingMessage): void {
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  const stopped = socket as Socket & Stopped;
  if (!hasBody || stopped._paused !== true) return;
  stopped._paused = false;
  socket.resume();
}
