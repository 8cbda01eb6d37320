// Work that the apiserver does for a component of its process counts as the apiserver's: an error in it does not end the component.
import type { Transport } from '#apimachinery/transport';
import { domainOfNow, inDomain } from '#component-base';

/** Wraps transports so that their calls run in the failure domain in which this was called, and not in that of the caller. */
export function ownDomain(): (inner: Transport) => Transport {
  const own = domainOfNow();
  return (inner) => ({
    call: (call, signal) => inDomain(own, () => inner.call(call, signal)),
    watch: (call, signal) => inDomain(own, () => inner.watch(call, signal)),
    raw: (method, path, body, signal) => inDomain(own, () => inner.raw(method, path, body, signal)),
    close: () => inner.close(),
  });
}
