// Endpoints and hooks of the core group that are more than storage.
import type { Rng } from '#utils';
import type { Authorizer } from '../../authorization/types.ts';
import type { ReadOnlyCluster } from '../../storage/read-only-cluster.ts';
import type { SpecialRest } from '../special.ts';
import { createKubeletClients, type KubeletClients, type KubeletConnectionOptions } from './node/kubelet-clients.ts';
import { proxyEndpoints } from './node/proxy.ts';
import { bindingEndpoints } from './pod/binding.ts';
import { evictionEndpoint } from './pod/eviction.ts';
import { logEndpoint } from './pod/log.ts';
import { streamingEndpoints } from './pod/streaming.ts';
import { tokenEndpoint, type TokenRequestOptions } from './serviceaccount/token.ts';

export { type KubeletConnectionOptions } from './node/kubelet-clients.ts';
export { type ServiceAllocationOptions, serviceHook } from './service/hook.ts';
export { ipRepairHook } from './service/ip-repair.ts';
export type { PortRange } from './service/port-allocator.ts';
export type { TokenRequestOptions } from './serviceaccount/token.ts';

export interface CoreEndpointOptions {
  cluster: ReadOnlyCluster;
  authorizer: Authorizer;
  rng: Rng;
  now(): number;
  tokens: TokenRequestOptions;
  kubelet: KubeletConnectionOptions;
}

/** Every special endpoint of the core group. `close` ends the connections to kubelets. */
export function coreEndpoints(options: CoreEndpointOptions): {
  endpoints: SpecialRest[];
  kubelets: KubeletClients;
  close(): void;
} {
  const kubelets = createKubeletClients(options.cluster, options.kubelet);
  return {
    endpoints: [
      ...bindingEndpoints(options.now),
      evictionEndpoint(options.now),
      tokenEndpoint(options.tokens),
      logEndpoint(kubelets),
      ...streamingEndpoints(kubelets, options.authorizer),
      ...proxyEndpoints(kubelets, options.rng),
    ],
    kubelets,
    close: () => kubelets.close(),
  };
}
