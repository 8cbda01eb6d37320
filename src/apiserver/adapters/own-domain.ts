// What the apiserver does for a component of its process is the apiserver's work: an error in it is not taken for the component's.
import type { Transport } from '#apimachinery/transport';
import { domainOfNow, inDomain } from '#component-base';

/** Gives transports whose calls run in the failure domain of now, whoever calls. */
export function ownDomain(): (inner: Transport) => Transport {
  const own = domainOfNow();
  return (inner) => ({
    call: (call, signal) => inDomain(own, () => inner.call(call, signal)),
    watch: (call, signal) => inDomain(own, () => inner.watch(call, signal)),
    raw: (method, path, body, signal) => inDomain(own, () => inner.raw(method, path, body, signal)),
    close: () => inner.close(),
  });
}
