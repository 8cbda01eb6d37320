// The serving side of exec and attach (kubelet's pkg/kubelet/server/remotecommand, cri-streaming): SPDY/3.1 streams or WebSocket channels in,
// plain Node streams out.
import type { Readable, Writable } from 'node:stream';
import type { WireUpgrade } from '../http/types.ts';
import { limits } from '../limits.ts';
import { SpdyConnection } from '../spdy/connection.ts';
import type { SpdyStream } from '../spdy/stream.ts';
import { acceptWebSocket, isWebSocketRequest } from '../websocket/handshake.ts';
import { webSocketChannels } from './channels.ts';
import { acceptSpdyUpgrade } from './negotiate.ts';
import {
  channel,
  type CommandOutcome,
  type CommandStreamOptions,
  encodeOutcome,
  rulesOf,
  sizeReader,
  spdyCommandProtocols,
  type TerminalSize,
  webSocketCommandProtocols,
} from './protocol.ts';

export interface RemoteCommandServerSession {
  /** The version agreed on. */
  readonly protocol: string;
  /** From the client; undefined when the request did not ask for it. Ends with the client's input, or with the connection. */
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Raw; `finish` writes the outcome onto it. */
  readonly error: Writable;
  /** Calls back for each new terminal size (also those that came before). */
  onResize(callback: (size: TerminalSize) => void): void;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** Flushes the output, tells the outcome, closes. A text is an outcome in the words of the protocol, as another server has told it. */
  finish(outcome: CommandOutcome | string): Promise<void>;
  close(): void;
}

interface Parts {
  protocol: string;
  stdin: Readable | undefined;
  stdout: Writable | undefined;
  stderr: Writable | undefined;
  error: Writable;
  resize: Readable | undefined;
  close(): void;
}

const ended = (stream: Writable | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (stream === undefined || stream.destroyed || stream.writableFinished) return resolve();
    stream.once('close', () => resolve());
    stream.end(() => resolve());
  });

function session(parts: Parts, controller: AbortController): RemoteCommandServerSession {
  const rules = rulesOf(parts.protocol);
  let last: TerminalSize | undefined;
  const callbacks: ((size: TerminalSize) => void)[] = [];
  const read = sizeReader((size) => {
    last = size;
    for (const callback of callbacks) callback(size);
  });
  parts.resize?.on('data', read);
  let finished = false;
  return {
    protocol: parts.protocol,
    stdin: parts.stdin,
    stdout: parts.stdout,
    stderr: parts.stderr,
    error: parts.error,
    onResize(callback) {
      callbacks.push(callback);
      if (last) callback(last);
    },
    signal: controller.signal,
    async finish(outcome) {
      if (finished) return;
      finished = true;
      await Promise.all([ended(parts.stdout), ended(parts.stderr)]);
      const text = typeof outcome === 'string' ? outcome : encodeOutcome(outcome, rules);
      if (text !== '' && !parts.error.destroyed) parts.error.write(text);
      await ended(parts.error);
      parts.close();
    },
    close: () => parts.close(),
  };
}

function acceptOverWebSocket(upgrade: WireUpgrade, options: CommandStreamOptions): RemoteCommandServerSession | undefined {
  const supported: readonly string[] = webSocketCommandProtocols;
  const connection = acceptWebSocket(upgrade, (offered) =>
    offered.length === 0 ? '' : offered.find((name) => supported.includes(name)),
  );
  if (connection === undefined) return undefined;
  const controller = new AbortController();
  connection.once('close', () => controller.abort(new Error('client connection lost')));
  const channels = webSocketChannels(connection, rulesOf(connection.protocol), false);
  const parts: Parts = {
    protocol: connection.protocol,
    stdin: options.stdin ? channels.readable(channel.stdin) : undefined,
    stdout: options.stdout ? channels.writable(channel.stdout) : undefined,
    stderr: options.stderr && !options.tty ? channels.writable(channel.stderr) : undefined,
    error: channels.writable(channel.error),
    resize: options.tty ? channels.readable(channel.resize) : undefined,
    close: () => connection.close(),
  };
  // Tells the client that the streams are ready.
  (parts.stdout ?? parts.stderr ?? parts.error).write(Buffer.alloc(0));
  return session(parts, controller);
}

/** The streams a client has to open for this command. */
function expectedStreams(options: CommandStreamOptions, protocol: string): string[] {
  return [
    'error',
    ...(options.stdin ? ['stdin'] : []),
    ...(options.stdout ? ['stdout'] : []),
    ...(options.stderr && !options.tty ? ['stderr'] : []),
    ...(options.tty && rulesOf(protocol).resize ? ['resize'] : []),
  ];
}

async function acceptOverSpdy(
  upgrade: WireUpgrade,
  options: CommandStreamOptions,
): Promise<RemoteCommandServerSession | undefined> {
  const accepted = acceptSpdyUpgrade(upgrade, spdyCommandProtocols);
  if (accepted === undefined) return undefined;
  const expected = expectedStreams(options, accepted.protocol);
  const streams = new Map<string, SpdyStream>();
  const controller = new AbortController();
  const complete = await new Promise<SpdyConnection | undefined>((resolve) => {
    const connection = new SpdyConnection(accepted.socket, {
      role: 'server',
      onStream(stream) {
        const type = stream.headers.streamtype ?? '';
        if (!expected.includes(type) || streams.has(type)) throw new Error(`unexpected stream type: "${type}"`);
        streams.set(type, stream);
        if (streams.size === expected.length) resolve(connection);
      },
    });
    const timer = setTimeout(() => resolve(undefined), limits.streamCreationTimeoutMs);
    timer.unref();
    connection.once('close', () => {
      clearTimeout(timer);
      controller.abort(new Error('client connection lost'));
      resolve(undefined);
    });
  });
  const error = streams.get('error');
  if (complete === undefined || error === undefined) {
    accepted.socket.destroy();
    return undefined;
  }
  const close = (): void => complete.close();
  const { protocol } = accepted;
  const parts = { protocol, stdin: streams.get('stdin'), stdout: streams.get('stdout'), stderr: streams.get('stderr'), error };
  return session({ ...parts, resize: streams.get('resize'), close }, controller);
}

/**
 * Answers an exec or attach request and waits until the client has opened its streams. Undefined: the client was refused (and answered) or
 * gave up; there is nothing more to do.
 */
export async function acceptRemoteCommand(
  upgrade: WireUpgrade,
  options: CommandStreamOptions,
): Promise<RemoteCommandServerSession | undefined> {
  return isWebSocketRequest(upgrade) ? acceptOverWebSocket(upgrade, options) : acceptOverSpdy(upgrade, options);
}
