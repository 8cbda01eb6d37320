// A WebSocket as a plain byte stream: each binary message is a piece of it. Carries SPDY for port-forward (KEP-4006).
import { Duplex } from 'node:stream';
import type { WebSocketConnection } from './connection.ts';

/** Ending the stream closes the WebSocket; there is no half-close in it. */
export function webSocketTunnel(connection: WebSocketConnection): Duplex {
  const tunnel = new Duplex({
    read: () => connection.resume(),
    write(chunk: Buffer, _encoding, done) {
      if (connection.closed) done(new Error('websocket: connection is closed'));
      else if (connection.send(chunk)) done();
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
  connection.on('message', (data, binary) => {
    if (!binary) return void tunnel.destroy(new Error('websocket: unexpected text message in tunnel'));
    if (!tunnel.push(data)) connection.pause();
  });
  connection.once('close', () => tunnel.push(null));
  return tunnel;
}
