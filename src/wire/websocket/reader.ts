// A stream of bytes for a client that only listens (k8s.io/streaming wsstream.Reader): logs over a WebSocket.
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { WireUpgrade } from '../http/types.ts';
import { closeCode } from './frames.ts';
import { acceptWebSocket } from './handshake.ts';

/** Subprotocols of one stream of bytes; '' is a client that offers none. */
const base64Protocol = 'base64.binary.k8s.io';
const readerProtocols: readonly string[] = ['', 'binary.k8s.io', base64Protocol];
const messageBytesMax = 2_048;

/**
 * Answers the handshake, then sends what `source` gives as messages and closes, with code 1011 where the source fails: what came is not all then (upstream says
 * 1000). Never rejects: a refusal has been answered, a client may go.
 */
export async function sendOverWebSocket(upgrade: WireUpgrade, source: NodeJS.ReadableStream): Promise<void> {
  const connection = acceptWebSocket(upgrade, (offered) =>
    offered.length === 0 ? '' : offered.find((protocol) => readerProtocols.includes(protocol)),
  );
  const gone = new AbortController();
  if (!connection) gone.abort();
  else connection.once('close', () => gone.abort());
  const isText = connection?.protocol === base64Protocol;
  const send = (bytes: Buffer): boolean =>
    connection?.send(isText ? Buffer.from(bytes.toString('base64'), 'latin1') : bytes, !isText) ?? false;
  // Says that the stream is open, before there is anything to send.
  send(Buffer.alloc(0));
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      let hasRoom = true;
      for (let at = 0; at < chunk.length; at += messageBytesMax) hasRoom = send(chunk.subarray(at, at + messageBytesMax));
      if (hasRoom || !connection) done();
      else connection.once('drain', () => done());
    },
  });
  const end = pipeline(source, sink, { signal: gone.signal }).then(
    () => closeCode.normal,
    () => closeCode.internal,
  );
  connection?.close(await end);
}
