// A SPDY/3.1 connection over any duplex byte stream: an upgraded HTTP/1.1 connection, or a WebSocket tunnel. The server side and the client
// side differ only in the parity of the ids they hand out. Flow control is kept only with peers that announce it (SETTINGS): Go's
// implementation, on the other end of most connections, neither announces windows nor updates them and relies on TCP's back-pressure.
import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { Intake } from '../http/intake.ts';
import { endInTime } from '../http/linger.ts';
import { limits } from '../limits.ts';
import { SpdyError } from './errors.ts';
import {
  dataHead,
  flagFin,
  frameParser,
  frameType,
  goAwayFrame,
  pingFrame,
  readWord,
  resetStatus,
  rstStreamFrame,
  settingInitialWindowSize,
  settingsFrame,
  synReplyFrame,
  synStreamFrame,
  windowUpdateFrame,
} from './frames.ts';
import { headerDecoder, headerEncoder, type SpdyHeaders } from './headers.ts';
import { SpdyStream, type StreamPort } from './stream.ts';

export interface SpdyOptions {
  role: 'client' | 'server';
  /** Called for each stream the peer opens, already accepted. Throwing refuses it. Default: refuse. */
  onStream?: (stream: SpdyStream) => void;
}

type Done = (error?: Error | null) => void;

/** Emits `close` once, with the error unless the error is one of ours. */
export class SpdyConnection extends EventEmitter<{ close: [error?: Error] }> {
  readonly #transport: Duplex;
  readonly #options: SpdyOptions;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #encode = headerEncoder();
  readonly #decode = headerDecoder();
  readonly #port: StreamPort;
  readonly #drainWaiters: (() => void)[] = [];
  #nextId: number;
  #lastPeerId = 0;
  #nextPingId: number;
  readonly #pings = new Map<number, () => void>();
  #peerWindow: number | undefined;
  readonly #intake: Intake;
  /** Bytes of all streams whose readers are behind. */
  #unreadBytes = 0;
  #goneAway = false;
  #closed = false;

  constructor(transport: Duplex, options: SpdyOptions) {
    super();
    this.#transport = transport;
    this.#options = options;
    this.#nextId = options.role === 'client' ? 1 : 2;
    this.#nextPingId = this.#nextId;
    this.#port = {
      sendData: (stream, chunk, fin, done) => this.#sendData(stream, chunk, fin, done),
      consumed: (stream, bytes) => this.#consumed(stream, bytes),
      finished: (stream) => this.#intake.release(stream),
      released: (stream, needsReset, unreadBytes) => this.#released(stream, needsReset, unreadBytes),
    };
    const parse = frameParser({
      control: (type, flags, payload) => this.#control(type, flags, payload),
      data: (id, piece, fin) => this.#data(id, piece, fin),
    });
    this.#intake = new Intake(transport, (piece) => {
      try {
        if (!this.#closed) parse(piece);
      } catch (error) {
        this.destroy(error as Error);
      }
    });
    transport.on('drain', () => {
      for (const wake of this.#drainWaiters.splice(0)) wake();
    });
    transport.on('error', (error: Error) => this.#shut(error));
    // Servers' sockets stay half open until they are ended on this side too.
    transport.once('end', () => {
      this.#shut();
      endInTime(transport);
    });
    transport.once('close', () => this.#shut());
    this.#write(settingsFrame(limits.spdyWindowBytes));
  }

  /** Streams open now. */
  get streams(): number {
    return this.#streams.size;
  }
  get closed(): boolean {
    return this.#closed;
  }

  /** Opens a stream. Data written to it goes out once the peer has accepted it. Throws when the connection takes no more streams. */
  createStream(headers: SpdyHeaders, options: { fin?: boolean } = {}): SpdyStream {
    if (this.#closed || this.#goneAway) throw new SpdyError('connection is closed');
    const id = this.#nextId;
    this.#nextId += 2;
    const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
    const stream = this.#add(id, plain, false);
    this.#write(synStreamFrame(id, options.fin ?? false, this.#encode(headers)));
    if (options.fin) stream.end();
    return stream;
  }

  /** Resolves when the peer has answered a ping; rejects when the connection ends first. */
  ping(): Promise<void> {
    const id = this.#nextPingId;
    this.#nextPingId += 2;
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new SpdyError('connection is closed'));
      const onClose = (): void => reject(new SpdyError('connection is closed'));
      this.once('close', onClose);
      this.#pings.set(id, () => {
        this.removeListener('close', onClose);
        resolve();
      });
      this.#write(pingFrame(id));
    });
  }

  /** Says GOAWAY and closes; what was written before still goes out. */
  close(): void {
    if (this.#closed) return;
    this.#write(goAwayFrame(this.#lastPeerId));
    this.#shut();
    // A reader that rests is a client's.
    const ms = this.#options.role === 'server' ? limits.unreadEndTimeoutMs : limits.stallTimeoutMs;
    endInTime(this.#transport, ms, ms);
  }

  /** Ends at once. */
  destroy(error?: Error): void {
    this.#shut(error);
    this.#transport.destroy();
  }

  #add(id: number, headers: Record<string, string>, replied: boolean): SpdyStream {
    const stream = new SpdyStream(this.#port, id, headers, { replied, sendWindow: this.#peerWindow ?? 0 });
    this.#streams.set(id, stream);
    return stream;
  }

  /** Writes what the peer's own frames made necessary. */
  #answer(frame: Buffer): void {
    this.#write(frame);
    this.#intake.answered(frame.length);
  }

  #write(frame: Buffer): boolean {
    return !this.#closed && this.#transport.writable && this.#transport.write(frame);
  }

  #sendData(stream: SpdyStream, chunk: Buffer, fin: boolean, done: Done): void {
    if (this.#closed) return done();
    const windowed = this.#peerWindow !== undefined;
    let at = 0;
    this.#transport.cork();
    do {
      const room = windowed ? stream.sendWindow : Number.POSITIVE_INFINITY;
      const length = Math.min(chunk.length - at, limits.spdyDataFrameBytes, Math.max(0, room));
      if (length === 0 && chunk.length > at) break;
      stream.sendWindow -= length;
      this.#write(dataHead(stream.id, fin, length));
      if (length > 0) this.#write(chunk.subarray(at, at + length));
      at += length;
    } while (at < chunk.length);
    this.#transport.uncork();
    if (at < chunk.length) {
      const rest = chunk.subarray(at);
      stream.wait(() => (stream.destroyed ? done() : this.#sendData(stream, rest, fin, done)));
    } else if (this.#transport.writableNeedDrain) this.#drainWaiters.push(done);
    else done();
  }

  #consumed(stream: SpdyStream, bytes: number): void {
    this.#grant(stream, bytes);
    this.#unreadBytes -= bytes;
    if (this.#unreadBytes <= limits.spdyUnreadBytesMax) this.#intake.release(this);
    this.#intake.release(stream);
  }

  #grant(stream: SpdyStream, bytes: number): void {
    if (this.#peerWindow !== undefined && this.#streams.has(stream.id)) this.#answer(windowUpdateFrame(stream.id, bytes));
  }

  #released(stream: SpdyStream, needsReset: boolean, unreadBytes: number): void {
    if (!this.#streams.delete(stream.id)) return;
    if (needsReset) this.#answer(rstStreamFrame(stream.id, resetStatus.cancel));
    this.#consumed(stream, unreadBytes);
  }

  #data(id: number, piece: Buffer, fin: boolean): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    if (stream.receive(piece, fin)) {
      if (piece.length > 0) this.#grant(stream, piece.length);
      return;
    }
    this.#unreadBytes += piece.length;
    // A peer without flow control can only be held back through the whole connection; one that opens many streams, too.
    const isBehind = this.#peerWindow === undefined || stream.readableLength > limits.spdyWindowBytes * 2;
    if (isBehind && !fin) this.#intake.hold(stream);
    if (this.#unreadBytes > limits.spdyUnreadBytesMax) this.#intake.hold(this);
  }

  #control(type: number, flags: number, payload: Buffer): void {
    switch (type) {
      case frameType.synStream:
        return this.#synStream(flags, payload);
      case frameType.synReply: {
        this.#decode(payload.subarray(4));
        const stream = this.#streams.get(readWord(payload, 0, 'SYN_REPLY'));
        stream?.acknowledge();
        if (flags & flagFin) stream?.finishReading();
        return;
      }
      case frameType.headers:
        this.#decode(payload.subarray(4));
        if (flags & flagFin) this.#streams.get(readWord(payload, 0, 'HEADERS'))?.finishReading();
        return;
      case frameType.rstStream:
        return this.#streams.get(readWord(payload, 0, 'RST_STREAM'))?.cutOff();
      case frameType.ping:
        return this.#ping(payload);
      case frameType.goAway:
        this.#goneAway = true;
        return;
      case frameType.settings:
        return this.#settings(payload);
      case frameType.windowUpdate:
        return this.#windowUpdate(payload);
    }
  }

  #synStream(flags: number, payload: Buffer): void {
    const id = readWord(payload, 0, 'SYN_STREAM');
    if (payload.length < 10) throw new SpdyError('truncated SYN_STREAM frame');
    const headers = this.#decode(payload.subarray(10));
    const peerParity = this.#options.role === 'client' ? 0 : 1;
    if (id % 2 !== peerParity || id <= this.#lastPeerId) return this.#answer(rstStreamFrame(id, resetStatus.protocolError));
    this.#lastPeerId = id;
    if (this.#options.onStream === undefined || this.#streams.size >= limits.spdyStreamsMax) {
      return this.#answer(rstStreamFrame(id, resetStatus.refusedStream));
    }
    const stream = this.#add(id, headers, true);
    // The reply comes before anything the handler writes.
    this.#answer(synReplyFrame(id, false, this.#encode({})));
    if (flags & flagFin) stream.finishReading();
    try {
      this.#options.onStream(stream);
    } catch {
      stream.destroy();
    }
  }

  #ping(payload: Buffer): void {
    const id = readWord(payload, 0, 'PING');
    const own = id % 2 === (this.#options.role === 'client' ? 1 : 0);
    if (!own) return this.#answer(pingFrame(id));
    this.#pings.get(id)?.();
    this.#pings.delete(id);
  }

  #settings(payload: Buffer): void {
    const count = readWord(payload, 0, 'SETTINGS');
    let window: number | undefined;
    for (let i = 0; i < count; i++) {
      const id = readWord(payload, 4 + i * 8, 'SETTINGS') & 0xffffff;
      const value = readWord(payload, 8 + i * 8, 'SETTINGS');
      if (id === settingInitialWindowSize) window = value;
    }
    if (window === undefined || window === this.#peerWindow) return;
    const change = window - (this.#peerWindow ?? 0);
    this.#peerWindow = window;
    for (const stream of this.#streams.values()) {
      stream.sendWindow += change;
      stream.wake();
    }
  }

  #windowUpdate(payload: Buffer): void {
    const stream = this.#streams.get(readWord(payload, 0, 'WINDOW_UPDATE'));
    const delta = readWord(payload, 4, 'WINDOW_UPDATE');
    if (stream === undefined) return;
    stream.sendWindow += delta;
    if (stream.sendWindow > 0x7fffffff) {
      this.#answer(rstStreamFrame(stream.id, resetStatus.flowControlError));
      stream.cutOff();
    } else stream.wake();
  }

  #shut(error?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const stream of [...this.#streams.values()]) stream.cutOff();
    this.#streams.clear();
    this.#intake.stop();
    for (const wake of this.#drainWaiters.splice(0)) wake();
    this.emit('close', error);
  }
}
