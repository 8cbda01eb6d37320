// For tests: clients that do by hand what a well-behaved library never does.
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { once } from 'node:events';

export interface RawClient {
  readonly socket: Socket;
  send(bytes: string | Buffer): void;
  /** What has come so far. */
  text(): string;
  /** Whether the server has ended the connection, by FIN or by RST. */
  ended(): boolean;
  /** Goes away without a word of farewell (RST). */
  reset(): void;
  destroy(): void;
}

/** A connection that never ends its own side, whatever the server does. */
export async function openRaw(port: number, { tls = true, read = true, protocol = 'http/1.1' } = {}): Promise<RawClient> {
  const tcp = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true });
  tcp.on('error', () => {});
  await once(tcp, 'connect');
  const socket: Socket = tls ? connectTls({ socket: tcp, rejectUnauthorized: false, ALPNProtocols: [protocol] }) : tcp;
  socket.on('error', () => {});
  if (tls) await once(socket, 'secureConnect');
  let text = '';
  let ended = false;
  for (const event of ['end', 'close']) socket.on(event, () => (ended = true));
  if (read) socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    text: () => text,
    ended: () => ended,
    reset: () => void tcp.resetAndDestroy(),
    destroy: () => {
      socket.destroy();
      tcp.destroy();
    },
  };
}

export interface Http2Answer {
  status: number;
  text: string;
}

/** An HTTP/2 session whose errors concern nobody. */
export function openHttp2(port: number, options: object = {}): ClientHttp2Session {
  return connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, ...options }).on('error', () => {});
}

/** The status of the answer and all of its text. */
export async function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  stream.on('error', () => {});
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(stream, 'close');
  return { status: Number(headers[':status']), text: Buffer.concat(chunks).toString() };
}
