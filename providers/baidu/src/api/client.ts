// Signed calls of the APIs of BLB, EIP, VPC and BCC: one limiter for the account, retries, and lists over all their pages.
import type { Clock, ProviderMetrics, Rng } from 'sagong/cloud-provider';
import { allPages, callMetrics, createCalls, listIn, sendHttp, tokenBucket } from 'sagong/cloud-provider/kit';
import { expireSeconds, pageItems, requestsBurst, requestsPerSecond } from '../limits.ts';
import { explained, failureOf } from './errors.ts';
import { type Credentials, signedHeaders } from './sign.ts';
import type { Page } from './types.ts';

export const services = ['blb', 'eip', 'vpc', 'bcc'] as const;
export type ServiceName = (typeof services)[number];
/** Addresses of the APIs, without a slash at their end. */
export type Endpoints = Readonly<Record<ServiceName, string>>;

export interface ClientOptions {
  endpoints: Endpoints;
  credentials(): Promise<Credentials>;
  /** Names the cluster in the logs of the APIs. */
  userAgent: string;
  timeoutMs: number;
  clock: Clock;
  rng?: Rng;
  metrics?: ProviderMetrics;
}

export type Query = Readonly<Record<string, string | undefined>>;
type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

export interface ApiRequest {
  service: ServiceName;
  /** With its version, as `v1/blb`. */
  path: string;
  query?: Query;
  body?: unknown;
}
export interface ApiChange extends ApiRequest {
  method: Exclude<Method, 'GET'>;
}

/** Each rejects with an error of the kit that begins with the name of the call. */
export interface ApiClient {
  get<T>(name: string, request: ApiRequest, signal?: AbortSignal): Promise<T>;
  /** All items of all pages; `field` is where a page has them. */
  list<T>(name: string, field: string, request: ApiRequest, signal?: AbortSignal): Promise<T[]>;
  /** A change that finds itself done when it comes twice: with a client token, or of what is named. */
  change<T>(name: string, request: ApiChange, signal?: AbortSignal): Promise<T>;
}

export function createClient(options: ClientOptions): ApiClient {
  const { endpoints, credentials, userAgent, timeoutMs, clock, rng, metrics } = options;
  const calls = createCalls({
    clock,
    ...(rng && { rng }),
    classify: (error) => failureOf(error, clock.now()),
    limiter: tokenBucket({ clock, perSecond: requestsPerSecond, burst: requestsBurst }),
    timeoutMs,
    observer: callMetrics({ metrics, vendor: 'cce' }),
  });

  async function send<T>(method: Method, { service, path, query = {}, body }: ApiRequest, signal: AbortSignal): Promise<T> {
    const url = new URL(`${endpoints[service]}/${path}`);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    const signed = signedHeaders({ method, url, atMs: clock.now(), expireSeconds }, await credentials());
    const headers = { ...signed, 'user-agent': userAgent };
    try {
      const answer = await sendHttp({ method, url: url.href, headers, signal, ...(body !== undefined && { body }) });
      return answer.text === '' ? (undefined as T) : answer.json<T>();
    } catch (error) {
      throw explained(error);
    }
  }
  const until = (signal?: AbortSignal) => (signal ? { signal } : {});
  const get = <T>(name: string, request: ApiRequest, signal?: AbortSignal): Promise<T> =>
    calls.read(name, (end) => send<T>('GET', request, end), until(signal));
  return {
    get,
    list: <T>(name: string, field: string, request: ApiRequest, signal?: AbortSignal) =>
      allPages<T, string>(async (marker) => {
        const query = { ...request.query, maxKeys: String(pageItems), marker };
        const page = await get<Page>(name, { ...request, query }, signal);
        return { items: listIn<T>(page, field), next: page.isTruncated ? page.nextMarker : undefined };
      }),
    change: <T>(name: string, { method, ...request }: ApiChange, signal?: AbortSignal) =>
      calls.write(name, (end) => send<T>(method, request, end), { idempotent: true, ...until(signal) }),
  };
}
