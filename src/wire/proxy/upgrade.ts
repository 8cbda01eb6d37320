// Passing an upgraded connection on to another server (apimachinery/pkg/util/proxy UpgradeAwareHandler): raw where both sides speak the same,
// translated where they do not (apiserver's StreamTranslatorHandler and StreamTunnelingHandler, KEP-4006).
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UpgradeRefusedError, type WireClient } from '../client/options.ts';
import type { ResponseHeaders, WireUpgrade } from '../http/types.ts';
import { limits } from '../limits.ts';
import { dialRemoteCommand, type RemoteCommandClientSession } from '../remotecommand/client.ts';
import { dialSpdy } from '../remotecommand/negotiate.ts';
import {
  type CommandStreamOptions,
  portForwardProtocol,
  portForwardTunnelProtocol,
  protocolVersionHeader,
  rulesOf,
} from '../remotecommand/protocol.ts';
import { acceptRemoteCommand } from '../remotecommand/server.ts';
import { acceptWebSocket } from '../websocket/handshake.ts';
import { webSocketTunnel } from '../websocket/tunnel.ts';
import { joinUpgraded } from './pipe.ts';

export interface UpgradeTarget {
  client: WireClient;
  /** Path and query on the backend. */
  path: string;
  /** Sent instead of the client's own headers; see `forwardableHeaders`. */
  headers?: Record<string, string | readonly string[]>;
  /** The answer to the client where the backend cannot be reached; default: 502 and a line of text. */
  unreachable?: (error: unknown) => { status: number; headers: ResponseHeaders; body: string };
}

const badGateway = (error: unknown): ReturnType<NonNullable<UpgradeTarget['unreachable']>> => {
  const message = error instanceof Error ? error.message : String(error);
  const headers = { 'content-type': 'text/plain; charset=utf-8' };
  return { status: 502, headers, body: `error dialing backend: ${message}\n` };
};

const notForwarded = new Set([
  'authorization',
  'cookie',
  'host',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
]);

/** The client's headers that a backend may see: no credentials, nothing that concerns only this connection but the upgrade itself. */
export function forwardableHeaders(headers: IncomingHttpHeaders): Record<string, string | readonly string[]> {
  const kept = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !name.startsWith(':') && !notForwarded.has(name),
  );
  // Node joins repeated lines of a header; older Go servers take the joined text for one name.
  const split = ([name, value]: [string, unknown]) => [
    name,
    name === protocolVersionHeader ? String(value).split(/,\s*/) : value,
  ];
  return Object.fromEntries(kept.map(split)) as Record<string, string | readonly string[]>;
}

function rejectLike(upgrade: WireUpgrade, error: unknown, { unreachable = badGateway }: UpgradeTarget): void {
  if (error instanceof UpgradeRefusedError) {
    const { 'transfer-encoding': _encoding, connection: _connection, 'keep-alive': _keepAlive, ...headers } = error.headers;
    return upgrade.reject(error.status, headers as ResponseHeaders, error.body);
  }
  const { status, headers, body } = unreachable(error);
  upgrade.reject(status, headers, body);
}

/**
 * Makes the same upgrade request to the backend and passes bytes both ways until both sides are done. What the backend answers, a refusal
 * included, is what the client gets. Never rejects.
 */
export async function proxyUpgrade(upgrade: WireUpgrade, target: UpgradeTarget): Promise<void> {
  const headers = {
    ...(target.headers ?? forwardableHeaders(upgrade.headers)),
    connection: 'Upgrade',
    upgrade: upgrade.headers.upgrade ?? '',
  };
  let backend: { headers: IncomingHttpHeaders; socket: Duplex };
  try {
    backend = await target.client.upgrade({ method: upgrade.method, path: target.path, headers, signal: upgrade.signal });
  } catch (error) {
    return rejectLike(upgrade, error, target);
  }
  await joinUpgraded(upgrade.accept(backend.headers as ResponseHeaders), backend.socket);
}

const pump = (from: Readable | undefined, to: Writable | undefined): Promise<void> =>
  from && to ? pipeline(from, to).catch(() => {}) : Promise.resolve();

/**
 * Closes the connection of a command whose client is gone. One that has input is left to read what the client wrote last, to which the end of the input
 * belongs, and to end by itself: clients of old protocols, which cannot say that the input ends, write and hang up (upstream's translator waits for
 * the command, too, and for ever).
 */
function abandon(backend: RemoteCommandClientSession): void {
  if (!backend.stdin) return backend.close();
  const late = setTimeout(() => backend.close(), limits.abandonedCommandTimeoutMs);
  void backend.closed.then(() => clearTimeout(late));
}

/**
 * Serves a client's exec or attach from a backend that speaks SPDY. The backend is asked first, so that its refusal reaches the client as an
 * ordinary response. Never rejects. Also for clients that speak SPDY: the pings of theirs that a relay hands on to a backend that has said everything and
 * closed its socket have its kernel reset the connection, and throw away what a client that rests has not read.
 */
export async function translateRemoteCommand(
  upgrade: WireUpgrade,
  target: UpgradeTarget & { options: CommandStreamOptions },
): Promise<void> {
  const { client, path, headers, options } = target;
  let backend: Awaited<ReturnType<typeof dialRemoteCommand>>;
  try {
    backend = await dialRemoteCommand(client, {
      path,
      ...(headers && { headers }),
      ...options,
      transport: 'spdy',
      signal: upgrade.signal,
    });
  } catch (error) {
    return rejectLike(upgrade, error, target);
  }
  const session = await acceptRemoteCommand(upgrade, options);
  if (session === undefined) return backend.close();
  const gone = (): void => abandon(backend);
  if (session.signal.aborted) gone();
  else session.signal.addEventListener('abort', gone, { once: true });
  session.onResize((size) => backend.resize(size));
  const input = pump(session.stdin, backend.stdin);
  // Older protocols have text of a failure where newer ones have a Status: only what both sides read the same way is passed on as it is.
  const [theirs, ours] = [rulesOf(backend.protocol), rulesOf(session.protocol)];
  const alike = theirs.statusOnErrorStream === ours.statusOnErrorStream;
  const outcome = alike ? backend.told().catch((error: Error) => ({ error: error.message })) : backend.outcome();
  // Clients take the outcome for the end of everything: it comes after all output.
  await Promise.all([pump(backend.stdout, session.stdout), pump(backend.stderr, session.stderr)]);
  await session.finish(await outcome);
  backend.close();
  await input;
}

/** Serves a WebSocket client's port-forward, SPDY inside it, from a backend that speaks SPDY: only the wrapping is taken off. Never rejects. */
export async function tunnelPortForward(upgrade: WireUpgrade, target: UpgradeTarget): Promise<void> {
  const { client, path, headers } = target;
  let socket: Duplex;
  try {
    ({ socket } = await dialSpdy(client, { path, ...(headers && { headers }), signal: upgrade.signal }, [portForwardProtocol]));
  } catch (error) {
    return rejectLike(upgrade, error, target);
  }
  const connection = acceptWebSocket(upgrade, (offered) => offered.find((name) => name === portForwardTunnelProtocol));
  if (connection === undefined) return void socket.destroy();
  await joinUpgraded(webSocketTunnel(connection), socket);
}
