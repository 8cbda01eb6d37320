// A WebSocket connection (RFC 6455) over any duplex stream, server or client side: whole messages, control frames, the close handshake.
// Written here because the usual package refuses the subprotocol names Kubernetes uses for port-forward ("SPDY/3.1+...").
import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { limits } from '../limits.ts';
import { closeCode, encodeFrame, type Frame, frameParser, opcode, WebSocketError } from './frames.ts';

export interface WebSocketOptions {
  role: 'client' | 'server';
  /** The subprotocol agreed on; '' for none. */
  protocol: string;
  /** Default `limits.webSocketMessageBytesMax`. */
  messageBytesMax?: number;
}

/** `message`: payload, and whether it was a binary one. `close`: once, when nothing will come any more. */
export interface WebSocketEvents {
  message: [data: Buffer, binary: boolean];
  close: [code: number, reason: string];
  drain: [];
}

export class WebSocketConnection extends EventEmitter<WebSocketEvents> {
  readonly protocol: string;
  readonly #transport: Duplex;
  readonly #masked: boolean;
  readonly #bytesMax: number;
  #fragments: Buffer[] = [];
  #fragmentBytes = 0;
  #fragmentOp = 0;
  #closeSent = false;
  #closed = false;
  #closeTimer: NodeJS.Timeout | undefined;

  constructor(transport: Duplex, options: WebSocketOptions) {
    super();
    this.protocol = options.protocol;
    this.#transport = transport;
    this.#masked = options.role === 'client';
    this.#bytesMax = options.messageBytesMax ?? limits.webSocketMessageBytesMax;
    const parse = frameParser({ expectMasked: !this.#masked, payloadBytesMax: this.#bytesMax }, (frame) => this.#frame(frame));
    transport.on('data', (chunk: Buffer) => {
      if (this.#closed) return;
      try {
        parse(chunk);
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

  /** Stops and resumes the arrival of messages, and with it the peer. */
  pause(): void {
    this.#transport.pause();
  }
  resume(): void {
    if (!this.#closed) this.#transport.resume();
  }

  /** Starts the close handshake; the connection ends when the peer answers, or after `limits.webSocketCloseTimeoutMs`. */
  close(code: number = closeCode.normal, reason = ''): void {
    if (this.#closeSent || this.#closed) return;
    const text = Buffer.from(reason, 'utf8').subarray(0, 123);
    const payload = Buffer.alloc(2 + text.length);
    payload.writeUInt16BE(code === closeCode.noStatus ? closeCode.normal : code);
    text.copy(payload, 2);
    this.#write(opcode.close, payload);
    this.#closeSent = true;
    this.#transport.resume();
    this.#closeTimer = setTimeout(() => this.destroy(), limits.webSocketCloseTimeoutMs);
    this.#closeTimer.unref();
  }

  destroy(): void {
    this.#transport.destroy();
    this.#finish(1006, '');
  }

  #write(op: number, payload: Buffer): boolean {
    const transport = this.#transport;
    if (this.#closed || !transport.writable) return false;
    const [head, body] = encodeFrame(op, payload, { masked: this.#masked }) as [Buffer, Buffer];
    transport.cork();
    transport.write(head);
    const room = transport.write(body);
    transport.uncork();
    return room;
  }

  #frame({ op, fin, payload }: Frame): void {
    switch (op) {
      case opcode.ping:
        if (!this.#closeSent) this.#write(opcode.pong, Buffer.from(payload));
        return;
      case opcode.pong:
        return;
      case opcode.close:
        return this.#peerClosed(payload);
      default:
        return this.#fragment(op, fin, payload);
    }
  }

  #fragment(op: number, fin: boolean, payload: Buffer): void {
    const started = this.#fragmentOp !== 0;
    if ((op === opcode.continuation) !== started) throw new WebSocketError(closeCode.protocolError, 'unexpected fragment');
    if (fin && !started) return this.#message(payload, op === opcode.binary);
    if (!started) this.#fragmentOp = op;
    this.#fragments.push(payload);
    this.#fragmentBytes += payload.length;
    if (this.#fragmentBytes > this.#bytesMax) throw new WebSocketError(closeCode.tooLarge, 'message too large');
    if (!fin) return;
    const whole = Buffer.concat(this.#fragments, this.#fragmentBytes);
    const binary = this.#fragmentOp === opcode.binary;
    this.#fragments = [];
    this.#fragmentBytes = 0;
    this.#fragmentOp = 0;
    this.#message(whole, binary);
  }

  #message(data: Buffer, binary: boolean): void {
    if (!this.#closed) this.emit('message', data, binary);
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
    this.#transport.end();
    // Nobody reads on; without this the peer's last bytes would keep the socket half open.
    this.#transport.resume();
    this.emit('close', code, reason);
  }
}
