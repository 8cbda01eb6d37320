// Many calls made at once over the direct transport would all be decoded, admitted and validated in one turn of the event loop, and hold up
// leases and sockets meanwhile. Here they are let in a few per turn, in order (k8s.io/apiserver/pkg/util/flowcontrol has the same purpose).
import type { Transport } from '#apimachinery/transport';

/** `enter`: undefined when the call may go on at once. */
export function fairTransport(inner: Transport, enter: () => Promise<void> | undefined): Transport {
  return {
    ...inner,
    async call(call, signal) {
      const wait = enter();
      if (wait) await wait;
      return inner.call(call, signal);
    },
  };
}
