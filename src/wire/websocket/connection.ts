// A WebSocket connection (RFC 6455) over any duplex stream, server or client side: messages in the pieces they arrive in, control frames, the close
// handshake. What a message carries is a part of some stream of bytes, so nobody has to keep a whole one, and a peer cannot make us keep it.
// Written here because the usual package refuses the subprotocol names Kubernetes uses for port-forward ("SPDY/3.1+...").
import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { limits } from '../limits.ts';
import { Intake } from '../http/intake.ts';
import { endInTime } from '../http/linger.ts';
import { closeCode, encodeFrame, type Frame, frameParser, opcode, WebSocketError } from './frames.ts';

export interface WebSocketOptions {
  role: 'client' | 'server';
  /** The subprotocol agreed on; '' for none. */
  protocol: string;
}

/** A part of a message. One that has begun may end with an empty part. */
export interface MessagePart {
  data: Buffer;
  binary: boolean;
  begins: boolean;
  ends: boolean;
}

/** What a connection tells; `close` comes once, when nothing else will. */
export interface WebSocketEvents {
  part: [part: MessagePart];
  close: [code: number, reason: string];
  drain: [];
}

const frameHeadBytesMax = 14;

export class WebSocketConnection extends EventEmitter<WebSocketEvents> {
  readonly protocol: string;
  readonly #transport: Duplex;
  readonly #masked: boolean;
  readonly #intake: Intake;
  /** The opcode of the message under way; 0: no message is. */
  #messageOp = 0;
  #closeSent = false;
  #closed = false;
  #closeTimer: NodeJS.Timeout | undefined;

  constructor(transport: Duplex, options: WebSocketOptions) {
    super();
    this.protocol = options.protocol;
    this.#transport = transport;
    this.#masked = options.role === 'client';
    const frames = { expectMasked: !this.#masked, wholeBytesMax: limits.webSocketWholeFrameBytes };
    const parse = frameParser(frames, (frame) => this.#frame(frame));
    this.#intake = new Intake(transport, (piece) => {
      if (this.#closed) return;
      try {
        parse(piece);
      } catch (error) {
        const code = error instanceof WebSocketError ? error.code : closeCode.internal;
        this.close(code, error instanceof WebSocketError ? error.message : '');
        this.#finish(code, (error as Error).message);
      }
    });
    transport.on('drain', () => this.emit('drain'));
    transport.on('error', () => this.#finish(1006, ''));
    transport.once('end', () => this.#finish(1006, ''));
    transport.once('close', () => this.#finish(1006, ''));
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Sends one message. False when the caller should wait for `drain`. Does nothing once closing. */
  send(data: Buffer, binary = true): boolean {
    return !this.#closeSent && this.#write(binary ? opcode.binary : opcode.text, data);
  }

  ping(): void {
    this.#write(opcode.ping, Buffer.alloc(0));
  }

  /** Stops the arrival of messages, and with it the peer, until everybody who holds it has let go. */
  hold(who: unknown): void {
    if (!this.#closeSent) this.#intake.hold(who);
  }
  release(who: unknown): void {
    this.#intake.release(who);
  }

  /**
   * Starts the close handshake; the connection ends when the peer answers. A client has `limits.unreadEndTimeoutMs` for that, because what was written may wait
   * in our kernel while it rests; a server has `limits.webSocketCloseTimeoutMs` once all has gone out.
   */
  close(code: number = closeCode.normal, reason = ''): void {
    if (this.#closeSent || this.#closed) return;
    const text = Buffer.from(reason, 'utf8').subarray(0, 123);
    const payload = Buffer.alloc(2 + text.length);
    payload.writeUInt16BE(code === closeCode.noStatus ? closeCode.normal : code);
    text.copy(payload, 2);
    this.#endWithin(this.#masked ? limits.stallTimeoutMs : limits.unreadEndTimeoutMs);
    this.#write(opcode.close, payload, () => this.#masked && this.#endWithin(limits.webSocketCloseTimeoutMs));
    this.#closeSent = true;
    this.#intake.releaseAll();
  }

  #endWithin(ms: number): void {
    clearTimeout(this.#closeTimer);
    if (!this.#closed) this.#closeTimer = setTimeout(() => this.destroy(), ms).unref();
  }

  destroy(): void {
    this.#transport.destroy();
    this.#finish(1006, '');
  }

  /** `sent` is called when the frame, and all before it, has gone out. */
  #write(op: number, payload: Buffer, sent?: () => void): boolean {
    const transport = this.#transport;
    if (this.#closed || !transport.writable) return false;
    const [head, body] = encodeFrame(op, payload, { masked: this.#masked }) as [Buffer, Buffer];
    transport.cork();
    transport.write(head);
    const room = transport.write(body, sent);
    transport.uncork();
    return room;
  }

  #frame({ op, fin, payload }: Frame): void {
    switch (op) {
      case opcode.ping:
        if (this.#closeSent) return;
        this.#write(opcode.pong, Buffer.from(payload));
        return this.#intake.answered(payload.length + frameHeadBytesMax);
      case opcode.pong:
        return;
      case opcode.close:
        return this.#peerClosed(payload);
      default:
        return this.#part(op, fin, payload);
    }
  }

  #part(op: number, fin: boolean, data: Buffer): void {
    const begins = this.#messageOp === 0;
    if ((op === opcode.continuation) === begins) throw new WebSocketError(closeCode.protocolError, 'unexpected fragment');
    if (begins) this.#messageOp = op;
    const binary = this.#messageOp === opcode.binary;
    if (fin) this.#messageOp = 0;
    // Whoever has said good-bye waits for the answer to it alone.
    if (!this.#closed && !this.#closeSent) this.emit('part', { data, binary, begins, ends: fin });
  }

  #peerClosed(payload: Buffer): void {
    const code = payload.length >= 2 ? payload.readUInt16BE(0) : closeCode.noStatus;
    this.close(code);
    this.#finish(code, payload.toString('utf8', 2));
  }

  /** The end of reading; what was written, the answering close frame included, still goes out. */
  #finish(code: number, reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#closeTimer);
    endInTime(this.#transport);
    this.#intake.stop();
    this.emit('close', code, reason);
  }
}
