// A watch over a WebSocket (k8s.io/apiserver WatchServer.HandleWS): each event is one message. To the stream of events it is a response like any other.
import { acceptWebSocket, type WireResponse, type WireUpgrade } from '#wire';

type Encoding = 'json' | 'protobuf';

/** Events as messages: JSON ends each with a line break, protobuf begins each with its length. */
function* messages(bytes: Buffer, encoding: Encoding): Generator<Buffer> {
  let at = 0;
  while (at < bytes.length) {
    const start = encoding === 'json' ? at : at + 4;
    const end = encoding === 'json' ? bytes.indexOf(10, at) + 1 || bytes.length : start + bytes.readUInt32BE(at);
    yield bytes.subarray(start, end);
    at = end;
  }
}

/**
 * Answers the handshake; undefined where the client was refused and has its answer. As upstream, a client must name its origin and may offer one
 * subprotocol at most, which is accepted whatever it is.
 */
export function watchSocket(upgrade: WireUpgrade, encoding: Encoding, onClose: () => void): WireResponse | undefined {
  if (!URL.canParse(upgrade.headers.origin ?? '')) {
    upgrade.reject(403, { 'content-type': 'text/plain; charset=utf-8' }, '');
    return undefined;
  }
  const socket = acceptWebSocket(upgrade, (offered) => (offered.length > 1 ? undefined : (offered[0] ?? '')));
  if (!socket) return undefined;
  socket.once('close', onClose);
  const drained = (): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        socket.off('drain', done).off('close', done);
        resolve();
      };
      socket.on('drain', done).on('close', done);
    });
  const write = (chunk: Uint8Array | string): boolean => {
    let hasRoom = true;
    for (const message of messages(Buffer.from(chunk as Uint8Array), encoding))
      hasRoom = socket.send(message, encoding !== 'json');
    return hasRoom && !socket.closed;
  };
  return {
    head() {},
    flushHead() {},
    write,
    drain: () => (socket.closed ? Promise.resolve() : drained()),
    end(chunk) {
      if (chunk !== undefined) write(chunk);
      socket.close();
    },
    send(_status, _headers, body) {
      if (body.length > 0) write(body);
      socket.close();
    },
    destroy: () => socket.destroy(),
    headSent: true,
    status: 101,
    get destroyed() {
      return socket.closed;
    },
  };
}
