// The opening handshake (RFC 6455 section 4), both sides.
import { createHash, randomBytes } from 'node:crypto';
import type { WireUpgrade } from '../http/types.ts';
import type { ClientRequest, WireClient } from '../client/options.ts';
import { WebSocketConnection } from './connection.ts';

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const acceptKey = (key: string): string =>
  createHash('sha1')
    .update(key + guid)
    .digest('base64');

const listOf = (header: string | undefined): string[] =>
  (header ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** Whether a request has `Connection: Upgrade` and `Upgrade: websocket` (wsstream.IsWebSocketRequest). */
export const isWebSocketRequest = (upgrade: Pick<WireUpgrade, 'headers'>): boolean =>
  listOf(upgrade.headers.connection).some((item) => item.toLowerCase() === 'upgrade') &&
  listOf(upgrade.headers.upgrade).some((item) => item.toLowerCase() === 'websocket');

/** The subprotocols a client offers, in its order. */
export const offeredSubprotocols = (upgrade: Pick<WireUpgrade, 'headers'>): string[] =>
  listOf(upgrade.headers['sec-websocket-protocol']);

/**
 * Answers the handshake. `choose` gets the subprotocols offered and returns the one to use, '' for none, undefined to refuse.
 * On refusal the client has been answered 400 or 403 and undefined is returned.
 */
export function acceptWebSocket(
  upgrade: WireUpgrade,
  choose: (offered: readonly string[]) => string | undefined,
): WebSocketConnection | undefined {
  const key = upgrade.headers['sec-websocket-key'];
  const valid =
    upgrade.method === 'GET' && key !== undefined && Buffer.from(key, 'base64').length === 16 && isWebSocketRequest(upgrade);
  const refuse = (status: number, why: string, headers: Record<string, string> = {}): undefined =>
    upgrade.reject(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }, `${why}\n`) as undefined;
  if (!valid) return refuse(400, 'Bad Request: malformed WebSocket handshake');
  if (upgrade.headers['sec-websocket-version'] !== '13')
    return refuse(400, 'missing or bad WebSocket Version', { 'sec-websocket-version': '13' });
  const protocol = choose(offeredSubprotocols(upgrade));
  if (protocol === undefined) return refuse(403, 'requested protocol(s) are not supported');
  const socket = upgrade.accept({
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-accept': acceptKey(key),
    ...(protocol !== '' && { 'sec-websocket-protocol': protocol }),
  });
  return new WebSocketConnection(socket, { role: 'server', protocol });
}

/** Opens a WebSocket. Rejects with `UpgradeRefusedError` when the server answers anything but 101, with another Error when it answers badly. */
export async function dialWebSocket(
  client: WireClient,
  request: Omit<ClientRequest, 'body' | 'method'> & { protocols?: readonly string[] },
): Promise<WebSocketConnection> {
  const key = randomBytes(16).toString('base64');
  const { protocols = [], ...rest } = request;
  const { headers, socket } = await client.upgrade({
    ...rest,
    method: 'GET',
    headers: {
      ...request.headers,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': key,
      ...(protocols.length > 0 && { 'sec-websocket-protocol': protocols.join(', ') }),
    },
  });
  const chosen = String(headers['sec-websocket-protocol'] ?? '');
  if (headers['sec-websocket-accept'] !== acceptKey(key) || (chosen !== '' && !protocols.includes(chosen))) {
    socket.destroy();
    throw new Error('websocket: bad handshake');
  }
  return new WebSocketConnection(socket, { role: 'client', protocol: chosen });
}
