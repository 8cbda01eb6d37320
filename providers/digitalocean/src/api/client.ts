// The calls of DigitalOcean's API that the provider makes: one method each, bounded in time and size, lists over all their pages.
import type { Clock } from 'sagong/cloud-provider';
import {
  atMost,
  boundedText,
  countIn,
  listIn,
  type RateLimiter,
  textOf,
  tokenBucket,
  withTexts,
} from 'sagong/cloud-provider/kit';
import { listItemsMax, pageItems, pagesMax, requestsAtOnceMax, requestTimeoutMs, responseBytesMax } from '../limits.ts';
import { errorOf, isNotFound } from './errors.ts';
import { loadSdk, type Sdk, type SdkRequest } from './sdk.ts';
import type {
  Certificate,
  Droplet,
  Firewall,
  FirewallRequest,
  LoadBalancer,
  LoadBalancerRequest,
  Page,
  Region,
} from './types.ts';

/** Every call rejects with `ApiError`, or, when throttled, with an error that says when to come again. */
export interface DigitalOceanApi {
  /** Undefined: there is none. */
  droplet(id: number, signal?: AbortSignal): Promise<Droplet | undefined>;
  /** All, or those of exactly this name. */
  droplets(name?: string, signal?: AbortSignal): Promise<Droplet[]>;
  loadBalancer(id: string, signal?: AbortSignal): Promise<LoadBalancer | undefined>;
  loadBalancers(signal?: AbortSignal): Promise<LoadBalancer[]>;
  createLoadBalancer(request: LoadBalancerRequest, signal?: AbortSignal): Promise<LoadBalancer>;
  updateLoadBalancer(id: string, request: LoadBalancerRequest, signal?: AbortSignal): Promise<LoadBalancer>;
  /** Has the API check a request, without an id one to make, and changes nothing. Resolves when it would be taken. */
  validateLoadBalancer(id: string | undefined, request: LoadBalancerRequest, signal?: AbortSignal): Promise<void>;
  /** Resolves also when there is none. */
  deleteLoadBalancer(id: string, signal?: AbortSignal): Promise<void>;
  certificate(id: string, signal?: AbortSignal): Promise<Certificate | undefined>;
  certificateNamed(name: string, signal?: AbortSignal): Promise<Certificate | undefined>;
  regions(signal?: AbortSignal): Promise<Region[]>;
  createTag(name: string, signal?: AbortSignal): Promise<void>;
  /** False: there is no such tag. */
  tagLoadBalancers(tag: string, ids: readonly string[], signal?: AbortSignal): Promise<boolean>;
  firewall(id: string, signal?: AbortSignal): Promise<Firewall | undefined>;
  firewalls(signal?: AbortSignal): Promise<Firewall[]>;
  createFirewall(request: FirewallRequest, signal?: AbortSignal): Promise<Firewall>;
  updateFirewall(id: string, request: FirewallRequest, signal?: AbortSignal): Promise<Firewall>;
}

export interface ApiOptions {
  accessToken: string;
  apiUrl: string;
  requestsPerSecond?: number;
  clock: Clock;
}

const undefinedIfMissing = (error: unknown): undefined => {
  if (!isNotFound(error)) throw error;
};

class HttpApi implements DigitalOceanApi {
  readonly #sdk: Sdk;
  readonly #clock: Clock;
  readonly #pace: RateLimiter;
  readonly #few = atMost(requestsAtOnceMax);

  constructor(sdk: Sdk, clock: Clock, perSecond = Number.POSITIVE_INFINITY) {
    this.#sdk = sdk;
    this.#clock = clock;
    // Kept apart, as the vendor's Go client does with a static rate limit.
    this.#pace = tokenBucket({ clock, perSecond, burst: 1 });
  }
  async droplet(id: number, signal?: AbortSignal) {
    const { droplets } = this.#sdk.client.v2;
    return this.#one<Droplet>('droplet', droplets.byDroplet_id(id).toGetRequestInformation(), signal).catch(undefinedIfMissing);
  }
  droplets(name?: string, signal?: AbortSignal) {
    return this.#all<Droplet>(
      'droplets',
      (page) => this.#sdk.client.v2.droplets.toGetRequestInformation({ queryParameters: { ...page, ...(name && { name }) } }),
      signal,
    );
  }
  async loadBalancer(id: string, signal?: AbortSignal) {
    return this.#one<LoadBalancer>('load_balancer', this.#balancer(id).toGetRequestInformation(), signal).catch(
      undefinedIfMissing,
    );
  }
  loadBalancers(signal?: AbortSignal) {
    const { load_balancers } = this.#sdk.client.v2;
    return this.#all<LoadBalancer>(
      'load_balancers',
      (queryParameters) => load_balancers.toGetRequestInformation({ queryParameters }),
      signal,
    );
  }
  createLoadBalancer(request: LoadBalancerRequest, signal?: AbortSignal) {
    const { load_balancers } = this.#sdk.client.v2;
    return this.#one<LoadBalancer>('load_balancer', withBody(load_balancers.toPostRequestInformation(), request), signal);
  }
  updateLoadBalancer(id: string, request: LoadBalancerRequest, signal?: AbortSignal) {
    return this.#one<LoadBalancer>('load_balancer', withBody(this.#balancer(id).toPutRequestInformation(), request), signal);
  }
  async validateLoadBalancer(id: string | undefined, request: LoadBalancerRequest, signal?: AbortSignal) {
    const { load_balancers } = this.#sdk.client.v2;
    const target = id === undefined ? load_balancers.toPostRequestInformation() : this.#balancer(id).toPutRequestInformation();
    await this.#send(withBody(target, { ...request, validate_only: true }), signal);
  }
  async deleteLoadBalancer(id: string, signal?: AbortSignal) {
    await this.#send(this.#balancer(id).toDeleteRequestInformation(), signal).catch(undefinedIfMissing);
  }
  async certificate(id: string, signal?: AbortSignal) {
    const { certificates } = this.#sdk.client.v2;
    return this.#one<Certificate>('certificate', certificates.byCertificate_id(id).toGetRequestInformation(), signal).catch(
      undefinedIfMissing,
    );
  }
  async certificateNamed(name: string, signal?: AbortSignal) {
    const request = this.#sdk.client.v2.certificates.toGetRequestInformation({ queryParameters: { name, page: 1, perPage: 1 } });
    return (await this.#one<Certificate[]>('certificates', request, signal))[0];
  }
  regions(signal?: AbortSignal) {
    const { regions } = this.#sdk.client.v2;
    return this.#all<Region>('regions', (queryParameters) => regions.toGetRequestInformation({ queryParameters }), signal);
  }
  async createTag(name: string, signal?: AbortSignal) {
    await this.#send(withBody(this.#sdk.client.v2.tags.toPostRequestInformation({}), { name }), signal);
  }
  async tagLoadBalancers(tag: string, ids: readonly string[], signal?: AbortSignal) {
    const resources = ids.map((id) => ({ resource_id: id, resource_type: 'load_balancer' }));
    const request = this.#sdk.client.v2.tags.byTag_id(tag).resources.toPostRequestInformation({});
    try {
      await this.#send(withBody(request, { resources }), signal);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }
  async firewall(id: string, signal?: AbortSignal) {
    const { firewalls } = this.#sdk.client.v2;
    return this.#one<Firewall>('firewall', firewalls.byFirewall_id(id).toGetRequestInformation(), signal).catch(
      undefinedIfMissing,
    );
  }
  firewalls(signal?: AbortSignal) {
    const { firewalls } = this.#sdk.client.v2;
    return this.#all<Firewall>('firewalls', (queryParameters) => firewalls.toGetRequestInformation({ queryParameters }), signal);
  }
  createFirewall(request: FirewallRequest, signal?: AbortSignal) {
    const { firewalls } = this.#sdk.client.v2;
    return this.#one<Firewall>('firewall', withBody(firewalls.toPostRequestInformation({}), request), signal);
  }
  updateFirewall(id: string, request: FirewallRequest, signal?: AbortSignal) {
    const { firewalls } = this.#sdk.client.v2;
    return this.#one<Firewall>('firewall', withBody(firewalls.byFirewall_id(id).toPutRequestInformation({}), request), signal);
  }

  #balancer(id: string) {
    return this.#sdk.client.v2.load_balancers.byLb_id(id);
  }
  async #one<T>(root: string, request: SdkRequest, signal?: AbortSignal): Promise<T> {
    const answer = await this.#send(request, signal);
    const value = answer[root];
    if (value === undefined || value === null) throw new Error(`${request.URL}: the answer has no "${root}"`);
    return value as T;
  }
  async #all<T extends { name: string }>(
    root: string,
    request: (page: { page: number; perPage: number }) => SdkRequest,
    signal?: AbortSignal,
  ): Promise<T[]> {
    const all: T[] = [];
    for (let page = 1; page <= pagesMax; page++) {
      const answer = await this.#send(request({ page, perPage: pageItems }), signal);
      const items = withTexts(listIn<T>(answer, root), 'name');
      if (all.length + items.length > listItemsMax) throw new Error(`the list of ${root} has more than ${listItemsMax} items`);
      for (const item of items) all.push(item);
      const { links, meta } = answer as Page;
      if (links?.pages?.next) continue;
      // The reference has `links` where there is more, and always a total. One that has neither may be the first of several.
      if (!links && all.length < countIn(meta, 'total')) throw new Error(`the list of ${root} has a total of more, and no links`);
      return all;
    }
    throw new Error(`the list of ${root} has more than ${pagesMax} pages`);
  }
  #send(request: SdkRequest, signal?: AbortSignal): Promise<Record<string, unknown>> {
    return this.#few(async () => {
      await this.#pace.wait(signal);
      return this.#answerTo(request, signal);
    });
  }
  async #answerTo(request: SdkRequest, signal?: AbortSignal): Promise<Record<string, unknown>> {
    const { method, headers, body } = await this.#sdk.native(request);
    const url = request.URL;
    const timeout = AbortSignal.timeout(requestTimeoutMs);
    const bound = signal ? AbortSignal.any([signal, timeout]) : timeout;
    let response: Response;
    let text: string;
    try {
      response = await fetch(url, { method, headers, redirect: 'error', signal: bound, ...(body && { body }) });
      text = await boundedText(response, responseBytesMax);
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      throw new Error(`${method} ${url}: ${textOf(cause)}`, { cause: error });
    }
    if (!response.ok)
      throw errorOf({ method, url, status: response.status, headers: response.headers, body: text }, this.#clock.now());
    if (text === '') return {};
    return parsed(text, `${method} ${url}`);
  }
}

function parsed(text: string, request: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${request}: the answer is not JSON`, { cause: error });
  }
  if (typeof value !== 'object' || value === null) throw new Error(`${request}: the answer is no JSON object`);
  return value as Record<string, unknown>;
}

function withBody(request: SdkRequest, body: unknown): SdkRequest {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  request.setStreamContent(bytes.buffer, 'application/json');
  return request;
}

/** An account's API. Makes no call yet. Rejects when the SDK cannot be loaded. */
export async function connectApi({ accessToken, apiUrl, requestsPerSecond, clock }: ApiOptions): Promise<DigitalOceanApi> {
  return new HttpApi(await loadSdk(accessToken, apiUrl), clock, requestsPerSecond);
}
