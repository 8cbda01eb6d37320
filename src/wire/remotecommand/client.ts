// The asking side of exec and attach (client-go/tools/remotecommand): towards an apiserver, a kubelet or a container runtime.
import type { Readable, Writable } from 'node:stream';
import type { ClientRequest, WireClient } from '../client/options.ts';
import { collectBody } from '../http/body.ts';
import { limits } from '../limits.ts';
import { SpdyConnection } from '../spdy/connection.ts';
import { dialWebSocket } from '../websocket/handshake.ts';
import { webSocketChannels } from './channels.ts';
import { dialSpdy } from './negotiate.ts';
import {
  channel,
  type CommandOutcome,
  type CommandStreamOptions,
  decodeOutcome,
  encodeSize,
  type ProtocolRules,
  rulesOf,
  spdyCommandProtocols,
  type TerminalSize,
  webSocketCommandProtocols,
} from './protocol.ts';

export interface RemoteCommandRequest extends Omit<ClientRequest, 'body' | 'method'>, CommandStreamOptions {
  transport: 'spdy' | 'websocket';
  /** Versions to offer, best first. Default: all of the transport's. */
  protocols?: readonly string[];
}

export interface RemoteCommandClientSession {
  readonly protocol: string;
  /** End it to end the command's input. Over WebSocket before v5 the end cannot be said and the command goes on waiting. */
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  /** What the server tells of the command's end, in the words of the protocol. Rejects where the connection is over and nothing was told. */
  told(): Promise<string>;
  /** How the command ended. `stdout` and `stderr` may still hold output when it resolves. Never rejects. */
  outcome(): Promise<CommandOutcome>;
  /** Does nothing where the protocol has no such stream. */
  resize(size: TerminalSize): void;
  /** Resolves when the connection is over. */
  readonly closed: Promise<void>;
  close(): void;
}

interface Parts {
  protocol: string;
  stdin: Writable | undefined;
  stdout: Readable | undefined;
  stderr: Readable | undefined;
  error: Readable;
  sizes: Writable | undefined;
  closed: Promise<void>;
  close(): void;
}

function session(parts: Parts): RemoteCommandClientSession {
  const { sizes, error, ...rest } = parts;
  const rules = rulesOf(parts.protocol);
  let told: Promise<string> | undefined;
  const tell = (): Promise<string> => (told ??= readOutcome(error, rules));
  return {
    ...rest,
    told: tell,
    outcome: () =>
      tell().then(
        (text) => decodeOutcome(text, rules),
        (failure: Error) => ({ error: failure.message }),
      ),
    resize: newest((size) => sizes?.writable === true && sizes.write(encodeSize(size)), sizes),
  };
}

/** Servers of older protocols say nothing of a success; those of newer ones say something of every end, unless they are lost before. */
async function readOutcome(stream: Readable, rules: ProtocolRules): Promise<string> {
  const bytes = await collectBody(stream, { bytesMax: limits.outcomeBytesMax }).catch((error: Error) => {
    // What is not read holds back the output, too.
    stream.resume();
    throw error;
  });
  if (bytes.length === 0 && rules.statusOnErrorStream) throw new Error('the connection was lost before the command had ended');
  return bytes.toString('utf8');
}

/** Sends what it is given; while the stream takes no more, only the newest is kept. */
function newest<T>(send: (value: T) => boolean, stream: Writable | undefined): (value: T) => void {
  let next: { value: T } | undefined;
  return (value) => {
    if (!stream?.writableNeedDrain) return void send(value);
    if (!next)
      stream.once('drain', () => {
        if (next) send(next.value);
        next = undefined;
      });
    next = { value };
  };
}

async function dialOverWebSocket(client: WireClient, request: RemoteCommandRequest): Promise<RemoteCommandClientSession> {
  const { path, headers, signal, stdin, stdout, stderr, tty } = request;
  const connection = await dialWebSocket(client, {
    path,
    ...(headers && { headers }),
    ...(signal && { signal }),
    protocols: request.protocols ?? webSocketCommandProtocols,
  });
  const rules = rulesOf(connection.protocol);
  const channels = webSocketChannels(connection, rules, true);
  return session({
    protocol: connection.protocol,
    stdin: stdin ? channels.writable(channel.stdin) : undefined,
    stdout: stdout ? channels.readable(channel.stdout) : undefined,
    stderr: stderr && !tty ? channels.readable(channel.stderr) : undefined,
    error: channels.readable(channel.error),
    sizes: tty && rules.resize ? channels.writable(channel.resize) : undefined,
    closed: new Promise((resolve) => void connection.once('close', () => resolve())),
    close: () => connection.close(),
  });
}

async function dialOverSpdy(client: WireClient, request: RemoteCommandRequest): Promise<RemoteCommandClientSession> {
  const { path, headers, signal, stdin, stdout, stderr, tty } = request;
  const head = { path, ...(headers && { headers }), ...(signal && { signal }) };
  const { protocol, socket } = await dialSpdy(client, head, request.protocols ?? spdyCommandProtocols);
  const connection = new SpdyConnection(socket, { role: 'client' });
  // Upstream's order: servers of old versions count on the error stream being first.
  const open = (streamtype: string) => connection.createStream({ streamtype });
  const error = open('error');
  const input = stdin ? open('stdin') : undefined;
  const output = stdout ? open('stdout') : undefined;
  const errors = stderr && !tty ? open('stderr') : undefined;
  const sizes = tty && rulesOf(protocol).resize ? open('resize') : undefined;
  // Streams that only the server writes are half-closed at once, as client-go does with the error stream.
  error.end();
  return session({
    protocol,
    stdin: input,
    stdout: output,
    stderr: errors,
    error,
    sizes,
    closed: new Promise((resolve) => void connection.once('close', () => resolve())),
    close: () => connection.close(),
  });
}

/** Starts a command. Rejects with `UpgradeRefusedError` when the server answers with an ordinary response. */
export const dialRemoteCommand = (client: WireClient, request: RemoteCommandRequest): Promise<RemoteCommandClientSession> =>
  request.transport === 'websocket' ? dialOverWebSocket(client, request) : dialOverSpdy(client, request);
