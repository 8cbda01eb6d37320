// The clients of OCI's services that the provider uses, and the one way in which its calls go out. The SDK retries nothing: the kit does.
import { type AuthenticationDetailsProvider, NoRetryConfigurationDetails } from 'oci-common';
import { ComputeClient, VirtualNetworkClient } from 'oci-core';
import { LoadBalancerClient } from 'oci-loadbalancer';
import { NetworkLoadBalancerClient } from 'oci-networkloadbalancer';
import type { Clock, ProviderMetrics, Rng } from 'sagong/cloud-provider';
import { allPages, createCalls, listIn, tokenBucket } from 'sagong/cloud-provider/kit';
import { pageItems, requestTimeoutMs } from '../limits.ts';
import { failureOf } from './errors.ts';
import { attempt, signedHttp } from './http.ts';
import { requestMetrics } from './metrics.ts';

export interface RateLimits {
  readPerSecond: number;
  readBurst: number;
  writePerSecond: number;
  writeBurst: number;
}
export interface ClientOptions {
  credentials(): Promise<AuthenticationDetailsProvider>;
  region: string;
  /** In the place of the services' own addresses. */
  endpoint?: string;
  /** Undefined: no limits. */
  rates: RateLimits | undefined;
  clock: Clock;
  rng?: Rng;
  metrics?: ProviderMetrics;
}

export interface ApiClient {
  compute: ComputeClient;
  network: VirtualNetworkClient;
  balancers: LoadBalancerClient;
  networkBalancers: NetworkLoadBalancerClient;
  read<T>(name: string, call: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** A change that may be sent again, because it is a PUT or DELETE, or carries a retry token. */
  write<T>(name: string, call: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** All items of a list. */
  list<Item>(name: string, call: (page: ListPage) => Promise<ListAnswer<Item>>, signal?: AbortSignal): Promise<Item[]>;
}
export interface ListPage {
  limit: number;
  page?: string;
}
export interface ListAnswer<Item> {
  items?: readonly Item[] | undefined;
  opcNextPage?: string | undefined;
}

export function createClient(options: ClientOptions): ApiClient {
  const { credentials, region, endpoint, rates, clock, rng, metrics } = options;
  const params = { httpClient: signedHttp(credentials) };
  const configuration = {
    retryConfiguration: NoRetryConfigurationDetails,
    circuitBreaker: { circuit: null, noCircuit: true },
  };
  const placed = <C extends { endpoint: string; regionId: string }>(client: C): C => {
    if (endpoint === undefined) client.regionId = region;
    else client.endpoint = endpoint;
    return client;
  };
  const calls = createCalls({
    clock,
    ...(rng && { rng }),
    classify: (error) => failureOf(error, clock.now()),
    timeoutMs: requestTimeoutMs,
    observer: requestMetrics(metrics),
    ...(rates && {
      limiter: tokenBucket({ clock, perSecond: rates.readPerSecond, burst: rates.readBurst }),
      writeLimiter: tokenBucket({ clock, perSecond: rates.writePerSecond, burst: rates.writeBurst }),
    }),
  });
  const read: ApiClient['read'] = (name, call, signal) =>
    calls.read(name, (until) => attempt(until, call), signal ? { signal } : {});
  return {
    compute: placed(new ComputeClient(params, configuration)),
    network: placed(new VirtualNetworkClient(params, configuration)),
    balancers: placed(new LoadBalancerClient(params, configuration)),
    networkBalancers: placed(new NetworkLoadBalancerClient(params, configuration)),
    read,
    write: (name, call, signal) =>
      calls.write(name, (until) => attempt(until, call), { idempotent: true, ...(signal && { signal }) }),
    list: (name, call, signal) =>
      allPages<never, string>(async (page) => {
        const answer = await read(name, () => call({ limit: pageItems, ...(page && { page }) }), signal);
        return { items: listIn<never>(answer, 'items'), next: answer.opcNextPage };
      }),
  };
}
