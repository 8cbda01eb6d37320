// The services of load balancers, by kind.
import type { BalancerApi } from './balancer-api.ts';
import { classicApi } from './classic.ts';
import type { ApiClient } from './client.ts';
import { networkApi } from './nlb.ts';
import type { BalancerKind } from './types.ts';

export const balancerApi = (client: ApiClient, kind: BalancerKind, signal?: AbortSignal): BalancerApi =>
  kind === 'nlb' ? networkApi(client, signal) : classicApi(client, signal);
