// One stream of a SPDY connection as a Duplex. Half-close is `end()`; a reset by the peer is an end of reading, as Go's implementation has it:
// servers reset all streams when they are done, and what was sent before must still be read.
import { Duplex } from 'node:stream';
import { limits } from '../limits.ts';

/** What a stream asks of its connection. */
export interface StreamPort {
  sendData(stream: SpdyStream, chunk: Buffer, fin: boolean, done: (error?: Error | null) => void): void;
  /** The reader has taken `bytes` that had filled its buffer. */
  consumed(stream: SpdyStream, bytes: number): void;
  /** Nothing will come on it any more, so there is no reason to hold the peer back for it. */
  finished(stream: SpdyStream): void;
  /** `unreadBytes` of it will never be taken. */
  released(stream: SpdyStream, needsReset: boolean, unreadBytes: number): void;
}

type Done = (error?: Error | null) => void;

export class SpdyStream extends Duplex {
  readonly id: number;
  /** As sent with SYN_STREAM. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** What we may still send; only enforced for peers that do flow control. */
  sendWindow: number;
  readonly #port: StreamPort;
  #unread = 0;
  #replied: boolean;
  #localFin = false;
  #remoteFin = false;
  #waiting: (() => void) | undefined;
  #reset = false;

  constructor(port: StreamPort, id: number, headers: Record<string, string>, options: { replied: boolean; sendWindow: number }) {
    super({
      allowHalfOpen: true,
      readableHighWaterMark: limits.spdyStreamBufferBytes,
      writableHighWaterMark: limits.spdyStreamBufferBytes,
    });
    this.#port = port;
    this.id = id;
    this.headers = headers;
    this.#replied = options.replied;
    this.sendWindow = options.sendWindow;
    // Ends and resets are told by 'end' and 'close'; nobody must crash for not listening to the error of a lost connection.
    this.on('error', () => {});
  }

  /** The peer accepted the stream: held-back data may go. Go's peers drop data that comes before. */
  acknowledge(): void {
    this.#replied = true;
    this.wake();
  }

  /** Tries a held-back write again. */
  wake(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }

  /** Runs `action` at the next `wake`. */
  wait(action: () => void): void {
    this.#waiting = action;
  }

  /** Data from the peer. False: the reader is behind. */
  receive(piece: Buffer, fin: boolean): boolean {
    if (this.#remoteFin || this.destroyed) return true;
    const room = piece.length === 0 || this.push(piece);
    if (!room) this.#unread += piece.length;
    if (fin) this.finishReading();
    return room;
  }

  finishReading(): void {
    if (this.#remoteFin) return;
    this.#remoteFin = true;
    // Node does not ask for more once it knows of the end: what had filled the buffer is counted as taken when all of it is.
    this.once('end', () => this._read());
    this.push(null);
    this.#port.finished(this);
  }

  /** The peer reset the stream, or the connection is gone. */
  cutOff(): void {
    this.#reset = true;
    this.finishReading();
    this.wake();
    if (this.readableEnded) this.destroy();
    else this.once('end', () => this.destroy());
  }

  override _read(): void {
    const bytes = this.#unread;
    this.#unread = 0;
    if (bytes > 0) this.#port.consumed(this, bytes);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    // Nobody listens any more; an error here would throw away what is still to be read.
    if (this.#reset) return done();
    if (!this.#replied) return this.wait(() => this._write(chunk, 'binary' as BufferEncoding, done));
    this.#port.sendData(this, chunk, false, done);
  }

  override _final(done: Done): void {
    if (this.#reset || this.#localFin) return done();
    if (!this.#replied) return this.wait(() => this._final(done));
    this.#localFin = true;
    this.#port.sendData(this, Buffer.alloc(0), true, done);
  }

  override _destroy(error: Error | null, done: Done): void {
    const unread = this.#unread;
    this.#unread = 0;
    this.#port.released(this, !this.#reset && !(this.#localFin && this.#remoteFin), unread);
    this.#reset = true;
    this.wake();
    done(error);
  }
}
