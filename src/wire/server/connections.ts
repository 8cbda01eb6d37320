// Which connections a server has, for counting and for an orderly end.
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';

export interface Connections {
  readonly size: number;
  addSocket(socket: Socket): void;
  /** Counts the session's streams, so that it can be closed after `idleTimeoutMs` without any. */
  addSession(session: ServerHttp2Session, idleTimeoutMs: number): void;
  addStream(stream: ServerHttp2Stream): void;
  /** Tells HTTP/2 clients to go elsewhere (GOAWAY); sessions close when their last stream has ended. */
  drain(): void;
  /** Resolves when no connection is left. */
  empty(): Promise<void>;
  destroyAll(): void;
}

export function trackConnections(): Connections {
  const sockets = new Set<Socket>();
  const streamCounts = new Map<ServerHttp2Session, number>();
  const waiting: (() => void)[] = [];
  let draining = false;
  const count = (session: ServerHttp2Session, by: number): void => {
    const streams = streamCounts.get(session);
    if (streams !== undefined) streamCounts.set(session, streams + by);
  };
  return {
    get size() {
      return sockets.size;
    },
    addSocket(socket) {
      sockets.add(socket);
      socket.once('close', () => {
        sockets.delete(socket);
        if (sockets.size === 0) for (const wake of waiting.splice(0)) wake();
      });
    },
    addSession(session, idleTimeoutMs) {
      streamCounts.set(session, 0);
      session.once('close', () => streamCounts.delete(session));
      session.on('error', () => {});
      session.setTimeout(idleTimeoutMs, () => {
        if (streamCounts.get(session) === 0) session.close();
      });
      if (draining) session.close();
    },
    addStream(stream) {
      const { session } = stream;
      if (session === undefined) return;
      const owner = session as ServerHttp2Session;
      count(owner, 1);
      stream.once('close', () => count(owner, -1));
    },
    drain() {
      draining = true;
      for (const session of streamCounts.keys()) session.close();
    },
    empty: () => (sockets.size === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
    destroyAll() {
      for (const session of streamCounts.keys()) session.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}
