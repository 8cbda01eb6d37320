// Requests to upgrade go through the same chain as any request; only what a special endpoint does with the connection differs.
import { Readable } from '../platform/streams.ts';
import type { WireRequest, WireResponse, WireUpgrade } from '#wire';
import type { WireExchange } from './wire.ts';

/** An upgrade seen as a request without a body. */
const requestOf = (upgrade: WireUpgrade): WireRequest => ({
  method: upgrade.method,
  path: upgrade.path,
  headers: upgrade.headers,
  rawHeaders: upgrade.rawHeaders,
  httpVersion: upgrade.httpVersion,
  encrypted: upgrade.encrypted,
  peerCertificate: upgrade.peerCertificate,
  remoteAddress: upgrade.remoteAddress,
  remotePort: upgrade.remotePort,
  localAddress: upgrade.localAddress,
  get body() {
    return Readable.from([]);
  },
  readBody: () => Promise.resolve(Buffer.alloc(0)),
  signal: upgrade.signal,
  onClose: (callback) => upgrade.signal.addEventListener('abort', callback, { once: true }),
  // Nothing else comes over it.
  servedFor() {},
});

/** An upgrade as the exchange that the chain serves. `response`: what it is answered where the protocol is not switched. */
export const upgradeExchange = (upgrade: WireUpgrade, response: WireResponse): WireExchange => ({
  request: requestOf(upgrade),
  response,
  upgrade,
});
