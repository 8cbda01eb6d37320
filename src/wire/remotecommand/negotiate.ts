// The HTTP side of a SPDY upgrade (k8s.io/apimachinery/pkg/util/httpstream): protocol choice in X-Stream-Protocol-Version.
import type { Duplex } from 'node:stream';
import type { ClientRequest, WireClient } from '../client/options.ts';
import type { WireUpgrade } from '../http/types.ts';
import { acceptedProtocolsHeader, protocolVersionHeader } from './protocol.ts';

const listOf = (value: string | string[] | undefined): string[] =>
  (Array.isArray(value) ? value : (value ?? '').split(',')).map((item) => item.trim()).filter((item) => item !== '');

/** Whether the client asks for `Upgrade: SPDY/3.1`. */
export const isSpdyRequest = (upgrade: Pick<WireUpgrade, 'protocols'>): boolean => upgrade.protocols.includes('spdy/3.1');

/**
 * Agrees on one of `supported` and switches protocols. A client that offers none gets ''. On refusal the client has been answered and
 * undefined is returned.
 */
export function acceptSpdyUpgrade(
  upgrade: WireUpgrade,
  supported: readonly string[],
): { protocol: string; socket: Duplex } | undefined {
  const text = { 'content-type': 'text/plain; charset=utf-8' };
  if (!isSpdyRequest(upgrade)) {
    upgrade.reject(400, text, `unable to upgrade: unexpected upgrade protocol "${upgrade.headers.upgrade ?? ''}"\n`);
    return undefined;
  }
  const offered = listOf(upgrade.headers[protocolVersionHeader]);
  const protocol = offered.length === 0 ? '' : offered.find((name) => supported.includes(name));
  if (protocol === undefined) {
    const why = `unable to upgrade: unable to negotiate protocol: client supports [${offered.join(' ')}], server accepts [${supported.join(' ')}]`;
    upgrade.reject(403, { ...text, [acceptedProtocolsHeader]: supported }, `${why}\n`);
    return undefined;
  }
  const socket = upgrade.accept({
    connection: 'Upgrade',
    upgrade: 'SPDY/3.1',
    ...(protocol !== '' && { [protocolVersionHeader]: protocol }),
  });
  return { protocol, socket };
}

/** Asks for SPDY/3.1. `protocol` is '' when the server does not negotiate. */
export async function dialSpdy(
  client: WireClient,
  request: Omit<ClientRequest, 'body'>,
  protocols: readonly string[],
): Promise<{ protocol: string; socket: Duplex }> {
  const { headers, socket } = await client.upgrade({
    method: 'POST',
    ...request,
    headers: { ...request.headers, connection: 'Upgrade', upgrade: 'SPDY/3.1', [protocolVersionHeader]: protocols },
  });
  return { protocol: listOf(headers[protocolVersionHeader])[0] ?? '', socket };
}
