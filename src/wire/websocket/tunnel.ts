// A WebSocket as a plain byte stream: each binary message is a piece of it. Carries SPDY for port-forward (KEP-4006).
import { Duplex } from 'node:stream';
import type { WebSocketConnection } from './connection.ts';

/** Ending the stream closes the WebSocket; there is no half-close in it. */
export function webSocketTunnel(connection: WebSocketConnection): Duplex {
  const tunnel: Duplex = new Duplex({
    read: () => connection.release(tunnel),
    write(chunk: Buffer, _encoding, done) {
      // Nobody listens any more; an error here would throw away what is still to be read.
      if (connection.closed || connection.send(chunk)) done();
      else {
        const go = (): void => {
          connection.removeListener('drain', go);
          connection.removeListener('close', go);
          done();
        };
        connection.on('drain', go);
        connection.on('close', go);
      }
    },
    final(done) {
      connection.close();
      done();
    },
    destroy(error, done) {
      connection.close();
      done(error);
    },
  });
  connection.on('part', ({ data, binary }) => {
    if (!binary) return void tunnel.destroy(new Error('websocket: unexpected text message in tunnel'));
    if (data.length > 0 && !tunnel.push(data)) connection.hold(tunnel);
  });
  connection.once('close', () => tunnel.push(null));
  return tunnel;
}
