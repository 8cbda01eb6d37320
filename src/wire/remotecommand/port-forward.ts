// Port-forward (kubelet's pkg/kubelet/server/portforward, client-go/tools/portforward): for each connection a pair of streams, data and error,
// joined by a request id. Over SPDY/3.1, over SPDY in a WebSocket (KEP-4006), or over WebSocket channels with fixed ports.
import { Duplex, type Writable } from 'node:stream';
import type { ClientRequest, WireClient } from '../client/options.ts';
import { collectBody } from '../http/body.ts';
import type { WireUpgrade } from '../http/types.ts';
import { limits } from '../limits.ts';
import { SpdyConnection } from '../spdy/connection.ts';
import type { SpdyStream } from '../spdy/stream.ts';
import { acceptWebSocket, dialWebSocket, isWebSocketRequest, offeredSubprotocols } from '../websocket/handshake.ts';
import { webSocketTunnel } from '../websocket/tunnel.ts';
import { webSocketChannels } from './channels.ts';
import { acceptSpdyUpgrade, dialSpdy } from './negotiate.ts';
import { portForwardProtocol, portForwardTunnelProtocol, rulesOf } from './protocol.ts';

/** One connection to be made to a port of the pod. */
export interface ForwardedConnection {
  port: number;
  /** Bytes both ways, with half-close. */
  data: Duplex;
  /** Takes the text of a failure; ending it without a text means success. */
  error: Writable;
}

export interface PortForwardOptions {
  /** Called per connection. */
  onConnection: (connection: ForwardedConnection) => void;
  /** Ports of the request's query, needed by the channel form only. */
  ports?: readonly number[];
}

export interface PortForwardServerSession {
  readonly signal: AbortSignal;
  close(): void;
}

const isPort = (port: number): boolean => Number.isInteger(port) && port > 0 && port < 65_536;

/** Joins data and error streams by request id; a half that stays alone is reset. */
function pairStreams(onConnection: PortForwardOptions['onConnection']): (stream: SpdyStream) => void {
  const halves = new Map<string, { stream: SpdyStream; timer: NodeJS.Timeout }>();
  return (stream) => {
    const type = stream.headers.streamtype;
    const port = Number(stream.headers.port);
    if (type !== 'data' && type !== 'error') throw new Error(`invalid stream type "${type ?? ''}"`);
    if (!isPort(port)) throw new Error(`unable to parse "${stream.headers.port ?? ''}" as a port`);
    // Clients before 1.0 send no id; they open the error stream first and the data stream right after it.
    const id = stream.headers.requestid ?? String(type === 'error' ? stream.id : stream.id - 2);
    const other = halves.get(id);
    if (other === undefined) {
      const timer = setTimeout(() => {
        halves.delete(id);
        stream.destroy();
      }, limits.streamCreationTimeoutMs);
      timer.unref();
      halves.set(id, { stream, timer });
      return;
    }
    clearTimeout(other.timer);
    halves.delete(id);
    const [data, error] = type === 'data' ? [stream, other.stream] : [other.stream, stream];
    if (data === error || data.headers.streamtype === error.headers.streamtype)
      throw new Error('request already has such a stream');
    error.resume();
    onConnection({ port, data, error });
  };
}

function overSpdy(transport: Duplex, options: PortForwardOptions): PortForwardServerSession {
  const controller = new AbortController();
  const connection = new SpdyConnection(transport, { role: 'server', onStream: pairStreams(options.onConnection) });
  connection.once('close', () => controller.abort(new Error('client connection lost')));
  return { signal: controller.signal, close: () => connection.close() };
}

/** Channel pairs 2n (data) and 2n+1 (error), each opened by the server with the port, two octets, little endian. */
function overChannels(upgrade: WireUpgrade, options: PortForwardOptions): PortForwardServerSession | undefined {
  const supported = ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io'];
  const connection = acceptWebSocket(upgrade, (offered) =>
    offered.length === 0 ? '' : offered.find((name) => supported.includes(name)),
  );
  if (connection === undefined) return undefined;
  const controller = new AbortController();
  connection.once('close', () => controller.abort(new Error('client connection lost')));
  const channels = webSocketChannels(connection, rulesOf(connection.protocol), false);
  (options.ports ?? []).forEach((port, index) => {
    const opening = Buffer.alloc(2);
    opening.writeUInt16LE(port);
    const incoming = channels.readable(index * 2);
    const outgoing = channels.writable(index * 2);
    const error = channels.writable(index * 2 + 1);
    outgoing.write(opening);
    error.write(opening);
    options.onConnection({ port, data: Duplex.from({ readable: incoming, writable: outgoing }), error });
  });
  return { signal: controller.signal, close: () => connection.close() };
}

/** Answers a port-forward request in whichever form the client speaks. Undefined: refused and answered. */
export function acceptPortForward(upgrade: WireUpgrade, options: PortForwardOptions): PortForwardServerSession | undefined {
  if (!isWebSocketRequest(upgrade)) {
    const accepted = acceptSpdyUpgrade(upgrade, [portForwardProtocol]);
    return accepted && overSpdy(accepted.socket, options);
  }
  if (!offeredSubprotocols(upgrade).includes(portForwardTunnelProtocol)) return overChannels(upgrade, options);
  const connection = acceptWebSocket(upgrade, () => portForwardTunnelProtocol);
  return connection && overSpdy(webSocketTunnel(connection), options);
}

export interface PortForwardClientSession {
  /** A new connection to `port`. `error` resolves with the server's complaint, '' when there was none. Throws when the session is over. */
  connect(port: number): { data: Duplex; error: Promise<string> };
  readonly closed: Promise<void>;
  close(): void;
}

/** Begins port-forwarding. Rejects with `UpgradeRefusedError` where the server does not agree. */
export async function dialPortForward(
  client: WireClient,
  request: Omit<ClientRequest, 'body' | 'method'> & { transport: 'spdy' | 'websocket' },
): Promise<PortForwardClientSession> {
  const { transport, ...head } = request;
  const stream =
    transport === 'spdy'
      ? (await dialSpdy(client, head, [portForwardProtocol])).socket
      : webSocketTunnel(await dialWebSocket(client, { ...head, protocols: [portForwardTunnelProtocol] }));
  const connection = new SpdyConnection(stream, { role: 'client' });
  let requests = 0;
  return {
    connect(port) {
      const common = { port: String(port), requestid: String(requests++) };
      const error = connection.createStream({ streamtype: 'error', ...common });
      error.end();
      const data = connection.createStream({ streamtype: 'data', ...common });
      const complaint = collectBody(error, { bytesMax: limits.outcomeBytesMax }).then(
        (bytes) => bytes.toString('utf8'),
        (cause: Error) => cause.message,
      );
      return { data, error: complaint };
    },
    closed: new Promise((resolve) => void connection.once('close', () => resolve())),
    close: () => connection.close(),
  };
}
