// Requests to upgrade go through the same chain as any request; only what a special endpoint does with the connection differs.
import { Readable } from '../platform/streams.ts';
import type { ResponseHeaders, WireRequest, WireResponse, WireUpgrade } from '#wire';
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
});

/** Answers before the protocol was switched are ordinary responses that end the connection. */
function responseOf(upgrade: WireUpgrade): WireResponse {
  const chunks: Buffer[] = [];
  let started: { status: number; headers: ResponseHeaders } | undefined;
  let over = false;
  const end = (chunk?: Uint8Array | string): void => {
    if (over) return;
    over = true;
    if (chunk !== undefined) chunks.push(Buffer.from(chunk as Uint8Array));
    upgrade.reject(started?.status ?? 500, started?.headers ?? {}, Buffer.concat(chunks));
  };
  return {
    head(status, headers = {}) {
      started = { status, headers };
    },
    flushHead() {},
    write(chunk) {
      chunks.push(Buffer.from(chunk as Uint8Array));
      return !over;
    },
    drain: () => Promise.resolve(),
    end,
    send(status, headers, body) {
      started = { status, headers };
      end(body);
    },
    destroy: () => end(),
    get headSent() {
      return started !== undefined;
    },
    get status() {
      return started?.status ?? 0;
    },
    get destroyed() {
      return over;
    },
  };
}

/** An upgrade as the exchange that the chain serves. */
export const upgradeExchange = (upgrade: WireUpgrade): WireExchange => ({
  request: requestOf(upgrade),
  response: responseOf(upgrade),
  upgrade,
});
