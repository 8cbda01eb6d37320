// Which connections a server has: for counting, for an orderly end, and so that those who open many and say little cannot keep others out.
// When there is no room for a new connection, the one that has been idle for longest is closed, of the address that has the most. A connection
// is idle while no request or upgraded protocol runs on it, which includes those that never finish a handshake or a head.
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Logger } from '#utils';
import { limits as defaults } from '../limits.ts';
import { processSockets } from './descriptors.ts';
import type { ServerLimits } from './options.ts';
import { RapidResets } from './rapid-resets.ts';

/** What is known of one connection; TLS and HTTP/2 put objects of their own on top of its socket. */
interface Connection {
  readonly socket: Socket;
  readonly peers: Peers;
  /** Requests and upgrades running on it. */
  active: number;
  handedOver: boolean;
  session: ServerHttp2Session | undefined;
  /** Bytes read when it was last looked at, and whether a ping was sent since. */
  seenBytes: number;
  pinged: boolean;
}

/** The connections of one remote address. */
interface Peers {
  count: number;
  /** The longest idle first. */
  readonly idle: Set<Connection>;
}

export interface Connections {
  readonly size: number;
  addSocket(socket: Socket): void;
  /** A socket that TLS put on top of an added one. */
  addSecure(socket: Socket): void;
  /** Sessions without a stream are closed after the idle timeout. */
  addSession(session: ServerHttp2Session): void;
  addStream(stream: ServerHttp2Stream): void;
  /** Something runs on a connection, until the result is called. */
  begin(socket: Socket): () => void;
  /**
   * The connection speaks another protocol from now on, whose speaker decides how long its peer is waited for. Once all has gone out that we had to say it
   * counts as idle: its peer may rest before it reads the rest, and others need not wait for that.
   */
  handOver(socket: Socket): void;
  /** Tells HTTP/2 clients to go elsewhere (GOAWAY); sessions close when their last stream has ended. */
  drain(): void;
  /** Resolves when no connection is left. */
  empty(): Promise<void>;
  destroyAll(): void;
}

/** What a socket and the TLS socket on top of it have in common; undefined for unix sockets, whose peers have no address. */
const keyOf = (socket: Socket): string | undefined =>
  socket.remotePort === undefined ? undefined : `${socket.remoteAddress ?? ''} ${socket.remotePort}`;

/** A peer that never answers our FIN with its own keeps the descriptor; nothing is read from it any more, so it goes. */
function closeAfterEnd(socket: Socket, isHandedOver: () => boolean): void {
  socket.once('finish', () => {
    if (isHandedOver()) return;
    const timer = setTimeout(() => socket.destroy(), defaults.lingerMs);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  });
}

class TrackedConnections implements Connections {
  readonly #limits: ServerLimits;
  readonly #logger: Logger;
  readonly #connections = new Map<Socket, Connection>();
  readonly #byKey = new Map<string, Connection>();
  /** By the socket that requests name, which may be one that TLS or HTTP/2 put on top. */
  readonly #bySocket = new WeakMap<object, Connection>();
  readonly #peers = new Map<string, Peers>();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #resets: RapidResets;
  readonly #waiting: (() => void)[] = [];
  #draining = false;
  #closedForRoom = 0;
  #toldLately = false;
  #sweep: NodeJS.Timeout | undefined;

  constructor(limits: ServerLimits, logger: Logger) {
    this.#limits = limits;
    this.#logger = logger;
    this.#resets = new RapidResets(logger);
  }

  get size(): number {
    return this.#connections.size;
  }

  addSocket(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    if (!this.#makeRoom(address)) return void socket.destroy();
    let peers = this.#peers.get(address);
    if (peers === undefined) this.#peers.set(address, (peers = { count: 0, idle: new Set() }));
    peers.count++;
    const connection = { socket, peers, active: 0, handedOver: false, session: undefined, seenBytes: 0, pinged: false };
    this.#connections.set(socket, connection);
    const key = keyOf(socket);
    if (key !== undefined) {
      this.#byKey.set(key, connection);
      peers.idle.add(connection);
    }
    processSockets.open++;
    closeAfterEnd(socket, () => connection.handedOver);
    this.#sweep ??= setInterval(() => this.#lookAtSessions(), this.#limits.pingAfterSilenceMs).unref();
    socket.once('close', () => this.#remove(connection, address, key));
  }

  addSecure(socket: Socket): void {
    const connection = this.#find(socket);
    closeAfterEnd(socket, () => connection?.handedOver === true);
  }

  addSession(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    const connection = this.#find(session.socket);
    if (connection) connection.session = session;
    session.once('close', () => this.#sessions.delete(session));
    session.on('error', () => {});
    this.#resets.watch(session);
    let streams = 0;
    session.on('stream', (stream: ServerHttp2Stream) => {
      streams++;
      stream.once('close', () => streams--);
    });
    session.setTimeout(this.#limits.idleTimeoutMs, () => {
      if (streams === 0) session.close();
    });
    if (this.#draining) session.close();
  }

  addStream(stream: ServerHttp2Stream): void {
    const { session } = stream;
    if (session !== undefined && !session.destroyed) stream.once('close', this.begin(session.socket as Socket));
  }

  begin(socket: Socket): () => void {
    const connection = this.#find(socket);
    if (!connection) return () => {};
    if (connection.active++ === 0) connection.peers.idle.delete(connection);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      if (--connection.active === 0 && this.#connections.has(connection.socket)) connection.peers.idle.add(connection);
    };
  }

  handOver(socket: Socket): void {
    const connection = this.#find(socket) ?? this.#connections.get(socket);
    if (connection) connection.handedOver = true;
    const over = this.begin(socket);
    socket.once('finish', over).once('close', over);
  }

  drain(): void {
    this.#draining = true;
    for (const session of this.#sessions) session.close();
  }

  empty(): Promise<void> {
    return this.size === 0 ? Promise.resolve() : new Promise((resolve) => void this.#waiting.push(resolve));
  }

  destroyAll(): void {
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  #find(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): Connection | undefined {
    const known = this.#bySocket.get(socket);
    if (known) return known;
    const key = keyOf(socket as Socket);
    const connection = key === undefined ? undefined : this.#byKey.get(key);
    if (connection) this.#bySocket.set(socket, connection);
    return connection;
  }

  #remove(connection: Connection, address: string, key: string | undefined): void {
    const { socket, peers } = connection;
    if (!this.#connections.delete(socket)) return;
    processSockets.open--;
    if (key !== undefined) this.#byKey.delete(key);
    peers.idle.delete(connection);
    if (--peers.count === 0) this.#peers.delete(address);
    if (this.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** False: all others are busy. */
  #makeRoom(address: string): boolean {
    const { connectionsMax, connectionsPerAddressMax } = this.#limits;
    const peers = this.#peers.get(address);
    if (peers && peers.count >= connectionsPerAddressMax) return this.#closeIdle(peers);
    if (this.size < connectionsMax && processSockets.open < processSockets.max) return true;
    let largest = peers;
    for (const others of this.#peers.values())
      if (others.idle.size > 0 && others.count > (largest?.idle.size ? largest.count : 0)) largest = others;
    return this.#closeIdle(largest);
  }

  #closeIdle(peers: Peers | undefined): boolean {
    const [longest] = peers?.idle ?? [];
    this.#closedForRoom++;
    if (!this.#toldLately) {
      this.#logger.warn('Too many connections: the longest idle ones are closed, new ones are refused while all are busy', {
        open: this.size,
        max: this.#limits.connectionsMax,
        maxPerAddress: this.#limits.connectionsPerAddressMax,
        address: (longest?.socket ?? [...this.#connections.keys()].at(-1))?.remoteAddress,
        closed: this.#closedForRoom,
      });
      this.#closedForRoom = 0;
      this.#toldLately = true;
      setTimeout(() => (this.#toldLately = false), defaults.connectionsToldMs).unref();
    }
    if (longest === undefined) return false;
    longest.peers.idle.delete(longest);
    longest.socket.destroy();
    return true;
  }

  /** A peer whose cable was pulled says nothing: HTTP/2 can ask it (RFC 9113 section 6.7). HTTP/1.1 has only TCP's own probes. */
  #lookAtSessions(): void {
    for (const connection of this.#connections.values()) {
      const { session, socket } = connection;
      if (!session || session.destroyed) continue;
      const silent = socket.bytesRead === connection.seenBytes;
      connection.seenBytes = socket.bytesRead;
      if (silent && connection.pinged) socket.destroy();
      else if (silent) connection.pinged = session.ping(() => {});
      else connection.pinged = false;
    }
  }
}

export const trackConnections = (limits: ServerLimits, logger: Logger): Connections => new TrackedConnections(limits, logger);
