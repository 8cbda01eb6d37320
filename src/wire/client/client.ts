// An HTTP client for one server: what #client builds its REST client on, and the apiserver its calls to kubelets and webhooks.
import { endpointOf } from './dial.ts';
import { http1Pool } from './http1.ts';
import { http2Pool } from './http2.ts';
import type { ClientOptions, WireClient } from './options.ts';

/** Makes a client, which connects when it is first used. Throws for a `baseUrl` that cannot be one. */
export function createWireClient(options: ClientOptions): WireClient {
  const endpoint = endpointOf(options.baseUrl);
  const http1 = http1Pool(options, endpoint);
  const http2 = options.protocol === 'h2' && endpoint.encrypted ? http2Pool(options, endpoint) : undefined;
  return {
    request: (request) => (http2 ?? http1).request(request),
    upgrade: http1.upgrade,
    closeIdle() {
      http1.closeIdle();
      http2?.closeIdle();
    },
    close() {
      http1.close();
      http2?.close();
    },
  };
}
