// Tells when an answer begins: the audit log has an event for the start of a stream.
import type { WireResponse, WireUpgrade } from '#wire';

/** Tells the first status of a response. */
export function announcing(response: WireResponse, onHead: (status: number) => void): WireResponse {
  return {
    head(status, headers) {
      response.head(status, headers);
      onHead(status);
    },
    send(status, headers, body) {
      onHead(status);
      response.send(status, headers, body);
    },
    flushHead: () => response.flushHead(),
    write: (chunk) => response.write(chunk),
    drain: () => response.drain(),
    end: (chunk) => response.end(chunk),
    destroy: () => response.destroy(),
    get headSent() {
      return response.headSent;
    },
    get status() {
      return response.status;
    },
    get destroyed() {
      return response.destroyed;
    },
  };
}

export function announcingUpgrade(upgrade: WireUpgrade, onSwitch: () => void): WireUpgrade {
  return Object.create(upgrade, {
    accept: {
      value: (headers: Parameters<WireUpgrade['accept']>[0]) => {
        onSwitch();
        return upgrade.accept(headers);
      },
    },
    takeOver: {
      value: () => {
        onSwitch();
        return upgrade.takeOver();
      },
    },
    reject: { value: upgrade.reject.bind(upgrade) },
    response: { value: upgrade.response.bind(upgrade) },
    signal: { get: () => upgrade.signal },
  }) as WireUpgrade;
}
