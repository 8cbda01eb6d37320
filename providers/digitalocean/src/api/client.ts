// The calls of DigitalOcean's API that the provider makes, by the names that the vendor's Go client gives them: one method each, bounded in time
// and size, lists over all their pages.
import type { Clock, Rng } from 'sagong/cloud-provider';
import {
  atMost,
  boundedText,
  type CallObserver,
  type Calls,
  countIn,
  createCalls,
  fineIfAbsent,
  isAbsent,
  listIn,
  textOf,
  tokenBucket,
  undefinedIfAbsent,
  withTexts,
} from 'sagong/cloud-provider/kit';
import { listItemsMax, pageItems, pagesMax, requestsAtOnceMax, requestTimeoutMs, responseBytesMax } from '../limits.ts';
import { errorOf, failureOf } from './errors.ts';
import { loadSdk, type Sdk, type SdkNativeRequest, type SdkRequest } from './sdk.ts';
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

/** Every call rejects with an error of the kit that begins with its name. */
export interface DigitalOceanApi {
  /** The droplet with this ID, or undefined. */
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
  /** Draws the jitter. Absent: the machine's. */
  rng?: Rng;
  observer?: CallObserver;
  /** For a caller whose own answer is awaited: every request goes out at once, and only once. */
  isUrgent?: boolean;
}

/** A POST of one of these finds what is done already. Load balancers and firewalls get an id each time, and are found by name afterwards. */
const repeatablePosts = new Set(['LoadBalancers.Validate', 'Tags.Create', 'Tags.TagResources']);

function callsOf({ clock, rng, requestsPerSecond = Number.POSITIVE_INFINITY, observer, isUrgent }: ApiOptions): Calls {
  return createCalls({
    clock,
    ...(rng && { rng }),
    classify: failureOf,
    timeoutMs: requestTimeoutMs,
    ...(observer && { observer }),
    // Kept apart, as the vendor's Go client does with a static rate limit.
    ...(isUrgent ? { retry: { attemptsMax: 1 } } : { limiter: tokenBucket({ clock, perSecond: requestsPerSecond, burst: 1 }) }),
  });
}

interface PageQuery extends Record<string, number> {
  page: number;
  perPage: number;
}

class HttpApi implements DigitalOceanApi {
  readonly #sdk: Sdk;
  readonly #clock: Clock;
  readonly #calls: Calls;
  readonly #few = atMost(requestsAtOnceMax);

  constructor(sdk: Sdk, options: ApiOptions) {
    this.#sdk = sdk;
    this.#clock = options.clock;
    this.#calls = callsOf(options);
  }
  droplet(id: number, signal?: AbortSignal) {
    const request = this.#v2.droplets.byDroplet_id(id).toGetRequestInformation();
    return this.#one<Droplet>('Droplets.Get', 'droplet', request, signal).catch(undefinedIfAbsent);
  }
  droplets(name?: string, signal?: AbortSignal) {
    const { droplets } = this.#v2;
    const request = (page: PageQuery) =>
      droplets.toGetRequestInformation({ queryParameters: { ...page, ...(name && { name }) } });
    return this.#all<Droplet>(name ? 'Droplets.ListByName' : 'Droplets.List', 'droplets', request, signal);
  }
  loadBalancer(id: string, signal?: AbortSignal) {
    const request = this.#balancer(id).toGetRequestInformation();
    return this.#one<LoadBalancer>('LoadBalancers.Get', 'load_balancer', request, signal).catch(undefinedIfAbsent);
  }
  loadBalancers(signal?: AbortSignal) {
    const { load_balancers } = this.#v2;
    const request = (queryParameters: PageQuery) => load_balancers.toGetRequestInformation({ queryParameters });
    return this.#all<LoadBalancer>('LoadBalancers.List', 'load_balancers', request, signal);
  }
  createLoadBalancer(body: LoadBalancerRequest, signal?: AbortSignal) {
    const request = withBody(this.#v2.load_balancers.toPostRequestInformation(), body);
    return this.#one<LoadBalancer>('LoadBalancers.Create', 'load_balancer', request, signal);
  }
  updateLoadBalancer(id: string, body: LoadBalancerRequest, signal?: AbortSignal) {
    const request = withBody(this.#balancer(id).toPutRequestInformation(), body);
    return this.#one<LoadBalancer>('LoadBalancers.Update', 'load_balancer', request, signal);
  }
  async validateLoadBalancer(id: string | undefined, body: LoadBalancerRequest, signal?: AbortSignal) {
    const { load_balancers } = this.#v2;
    const target = id === undefined ? load_balancers.toPostRequestInformation() : this.#balancer(id).toPutRequestInformation();
    await this.#send('LoadBalancers.Validate', withBody(target, { ...body, validate_only: true }), signal);
  }
  async deleteLoadBalancer(id: string, signal?: AbortSignal) {
    await this.#send('LoadBalancers.Delete', this.#balancer(id).toDeleteRequestInformation(), signal).catch(fineIfAbsent);
  }
  certificate(id: string, signal?: AbortSignal) {
    const request = this.#v2.certificates.byCertificate_id(id).toGetRequestInformation();
    return this.#one<Certificate>('Certificates.Get', 'certificate', request, signal).catch(undefinedIfAbsent);
  }
  async certificateNamed(name: string, signal?: AbortSignal) {
    const request = this.#v2.certificates.toGetRequestInformation({ queryParameters: { name, page: 1, perPage: 1 } });
    return (await this.#one<Certificate[]>('Certificates.ListByName', 'certificates', request, signal))[0];
  }
  regions(signal?: AbortSignal) {
    const { regions } = this.#v2;
    const request = (queryParameters: PageQuery) => regions.toGetRequestInformation({ queryParameters });
    return this.#all<Region>('Regions.List', 'regions', request, signal);
  }
  async createTag(name: string, signal?: AbortSignal) {
    await this.#send('Tags.Create', withBody(this.#v2.tags.toPostRequestInformation({}), { name }), signal);
  }
  async tagLoadBalancers(tag: string, ids: readonly string[], signal?: AbortSignal) {
    const resources = ids.map((id) => ({ resource_id: id, resource_type: 'load_balancer' }));
    const request = this.#v2.tags.byTag_id(tag).resources.toPostRequestInformation({});
    try {
      await this.#send('Tags.TagResources', withBody(request, { resources }), signal);
      return true;
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }
  firewall(id: string, signal?: AbortSignal) {
    const request = this.#v2.firewalls.byFirewall_id(id).toGetRequestInformation();
    return this.#one<Firewall>('Firewalls.Get', 'firewall', request, signal).catch(undefinedIfAbsent);
  }
  firewalls(signal?: AbortSignal) {
    const { firewalls } = this.#v2;
    const request = (queryParameters: PageQuery) => firewalls.toGetRequestInformation({ queryParameters });
    return this.#all<Firewall>('Firewalls.List', 'firewalls', request, signal);
  }
  createFirewall(body: FirewallRequest, signal?: AbortSignal) {
    const request = withBody(this.#v2.firewalls.toPostRequestInformation({}), body);
    return this.#one<Firewall>('Firewalls.Create', 'firewall', request, signal);
  }
  updateFirewall(id: string, body: FirewallRequest, signal?: AbortSignal) {
    const request = withBody(this.#v2.firewalls.byFirewall_id(id).toPutRequestInformation({}), body);
    return this.#one<Firewall>('Firewalls.Update', 'firewall', request, signal);
  }

  get #v2() {
    return this.#sdk.client.v2;
  }
  #balancer(id: string) {
    return this.#v2.load_balancers.byLb_id(id);
  }
  async #one<T>(name: string, root: string, request: SdkRequest, signal?: AbortSignal): Promise<T> {
    const answer = await this.#send(name, request, signal);
    const value = answer[root];
    if (value === undefined || value === null) throw new Error(`${request.URL}: the answer has no "${root}"`);
    return value as T;
  }
  async #all<T extends { name: string }>(
    name: string,
    root: string,
    request: (page: PageQuery) => SdkRequest,
    signal?: AbortSignal,
  ): Promise<T[]> {
    const all: T[] = [];
    for (let page = 1; page <= pagesMax; page++) {
      const answer = await this.#send(name, request({ page, perPage: pageItems }), signal);
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
  async #send(name: string, request: SdkRequest, signal?: AbortSignal): Promise<Record<string, unknown>> {
    const native = await this.#sdk.native(request);
    const attempt = (end: AbortSignal) => this.#answerTo(request.URL, native, end);
    const options = signal ? { signal } : {};
    if (native.method === 'GET') return this.#few(() => this.#calls.read(name, attempt, options));
    const idempotent = native.method !== 'POST' || repeatablePosts.has(name);
    return this.#few(() => this.#calls.write(name, attempt, { idempotent, ...options }));
  }
  async #answerTo(url: string, request: SdkNativeRequest, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { method, headers, body } = request;
    let response: Response;
    let text: string;
    try {
      response = await fetch(url, { method, headers, redirect: 'error', signal, ...(body && { body }) });
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
export async function connectApi(options: ApiOptions): Promise<DigitalOceanApi> {
  return new HttpApi(await loadSdk(options.accessToken, options.apiUrl), options);
}
