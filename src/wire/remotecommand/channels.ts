// Channels of a WebSocket (wsstream): the first octet of a message (a digit in the base64 form) names the channel. Each channel is given as a
// Node stream; a reader that is behind holds the whole connection back.
import { Readable, Writable } from 'node:stream';
import type { MessagePart, WebSocketConnection } from '../websocket/connection.ts';
import { channel, type ProtocolRules } from './protocol.ts';

export interface Channels {
  /** What arrives on a channel. Ends with the close signal for it, or with the connection. */
  readable(id: number): Readable;
  /** What is sent on a channel. Ending it sends the close signal where the protocol has one (client side). */
  writable(id: number): Writable;
  close(): void;
}

/** Tells the channel and the bytes of each part of a message. Parts without bytes are left out. */
function partReader(base64: boolean, onData: (id: number, data: Buffer) => void): (part: MessagePart) => void {
  let id: number | undefined;
  /** Digits of base64 that do not make up whole octets yet. */
  let digits = '';
  return ({ data, begins, ends }) => {
    let rest = data;
    if (begins) [id, digits] = [undefined, ''];
    if (id === undefined) {
      if (data.length === 0) return;
      id = (data[0] as number) - (base64 ? zeroDigit : 0);
      rest = data.subarray(1);
    }
    if (base64) {
      const text = digits + rest.toString('latin1');
      const length = ends ? text.length : text.length - (text.length % 4);
      digits = text.slice(length);
      rest = Buffer.from(text.slice(0, length), 'base64');
    }
    if (rest.length > 0) onData(id, rest);
  };
}

const zeroDigit = '0'.charCodeAt(0);

/** `sayEnd`: announce the end of a channel we write to; only clients do. */
export function webSocketChannels(connection: WebSocketConnection, rules: ProtocolRules, sayEnd: boolean): Channels {
  const readers = new Map<number, Readable>();
  const ended = new Set<Readable>();
  /** Node does not ask for more once it knows of the end, so that a reader that was behind would hold the connection for ever. */
  const end = (reader: Readable): void => {
    ended.add(reader);
    reader.push(null);
    connection.release(reader);
  };
  const drainWaiters: (() => void)[] = [];
  const wakeAll = (): void => {
    for (const wake of drainWaiters.splice(0)) wake();
  };
  const send = (id: number, data: Buffer): boolean =>
    rules.base64
      ? connection.send(Buffer.from(String(id) + data.toString('base64'), 'latin1'), false)
      : connection.send(Buffer.concat([Buffer.from([id]), data]));
  const read = partReader(rules.base64, (id, data) => {
    if (rules.closeSignal && id === channel.close) {
      const reader = readers.get(data[0] ?? channel.close);
      return reader && end(reader);
    }
    const reader = readers.get(id);
    if (reader === undefined || ended.has(reader)) return;
    if (!reader.push(data)) connection.hold(reader);
  });
  connection.on('part', read);
  connection.on('drain', wakeAll);
  connection.once('close', () => {
    wakeAll();
    for (const reader of readers.values()) end(reader);
  });

  return {
    readable(id) {
      const reader: Readable = new Readable({ read: () => connection.release(reader) });
      reader.on('error', () => {});
      readers.set(id, reader);
      if (connection.closed) end(reader);
      return reader;
    },
    writable(id) {
      return new Writable({
        write(data: Buffer, _encoding, done) {
          if (connection.closed || send(id, data)) done();
          else drainWaiters.push(done);
        },
        final(done) {
          if (sayEnd && rules.closeSignal) connection.send(Buffer.from([channel.close, id]));
          done();
        },
      }).on('error', () => {});
    },
    close: () => connection.close(),
  };
}
