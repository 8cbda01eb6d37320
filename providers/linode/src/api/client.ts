// The calls of Linode's API v4 that the provider makes, by the names that the vendor's Go client gives them: they begin each error, and are the
// labels of the metric that linode-cloud-controller-manager keeps.
import type { Clock, ProviderMetrics, Rng } from 'sagong/cloud-provider';
import {
  allPages,
  type CallObserver,
  createCalls,
  countIn,
  listIn,
  type RateLimiter,
  sendHttp,
  tokenBucket,
} from 'sagong/cloud-provider/kit';
import { listsBurst, listsPerSecond, pageItems, requestsBurst, requestsPerSecond } from '../limits.ts';
import { explained, failureOf } from './errors.ts';
import type { Filter, Page } from './types.ts';

export interface ClientOptions {
  /** `https://api.linode.com/v4`, or what stands in its place. */
  url: string;
  token(): Promise<string>;
  timeoutMs: number;
  clock: Clock;
  rng?: Rng;
  metrics?: ProviderMetrics;
}

/** Each rejects with an error of the kit that begins with the name of the call. */
export interface ApiClient {
  get<T>(name: string, path: string, signal?: AbortSignal): Promise<T>;
  /** All items of all pages. */
  list<T>(name: string, path: string, filter?: Filter, signal?: AbortSignal): Promise<T[]>;
  /** A change that finds itself done when it comes twice: a PUT, or a POST of a label that must be unique. */
  change<T>(name: string, method: 'PUT' | 'POST' | 'DELETE', path: string, body?: unknown, signal?: AbortSignal): Promise<T>;
}

/** A call waits for both, and both heed a wish to be left alone. */
const both = (first: RateLimiter, second: RateLimiter): RateLimiter => ({
  async wait(signal) {
    await first.wait(signal);
    await second.wait(signal);
  },
  pause(delayMs) {
    first.pause(delayMs);
    second.pause(delayMs);
  },
});

function requestCounter(metrics: ProviderMetrics | undefined): CallObserver {
  const counter = metrics?.counter({
    name: 'ccm_linode_client_requests_total',
    help: 'client counters for each operation and its result',
    labels: ['method', 'result'],
  });
  return { ended: (call, _durationMs, failure) => counter?.inc(1, call, failure ? 'error' : 'ok') };
}

export function createClient({ url, token, timeoutMs, clock, rng, metrics }: ClientOptions): ApiClient {
  const general = tokenBucket({ clock, perSecond: requestsPerSecond, burst: requestsBurst });
  const shared = {
    clock,
    ...(rng && { rng }),
    classify: (error: unknown) => failureOf(error, clock.now()),
    timeoutMs,
    observer: requestCounter(metrics),
  };
  const calls = createCalls({ ...shared, limiter: general });
  const lists = createCalls({
    ...shared,
    limiter: both(tokenBucket({ clock, perSecond: listsPerSecond, burst: listsBurst }), general),
  });

  async function send<T>(method: string, path: string, signal: AbortSignal, body?: unknown, filter?: Filter): Promise<T> {
    const headers = { authorization: `Bearer ${await token()}`, ...(filter && { 'x-filter': JSON.stringify(filter) }) };
    try {
      const answer = await sendHttp({ method, url: `${url}/${path}`, headers, signal, ...(body !== undefined && { body }) });
      return answer.text === '' ? (undefined as T) : answer.json<T>();
    } catch (error) {
      throw explained(error);
    }
  }
  const until = (signal?: AbortSignal) => (signal ? { signal } : {});
  return {
    get: <T>(name: string, path: string, signal?: AbortSignal) =>
      calls.read(name, (end) => send<T>('GET', path, end), until(signal)),
    list: <T>(name: string, path: string, filter?: Filter, signal?: AbortSignal) =>
      allPages<T, number>(async (page = 1) => {
        const query = `${path}?page=${page}&page_size=${pageItems}`;
        const answer = await lists.read(name, (end) => send<Page<T>>('GET', query, end, undefined, filter), until(signal));
        return { items: listIn<T>(answer, 'data'), next: page < countIn(answer, 'pages') ? page + 1 : undefined };
      }),
    change: <T>(name: string, method: string, path: string, body?: unknown, signal?: AbortSignal) =>
      calls.write(name, (end) => send<T>(method, path, end, body), { idempotent: true, ...until(signal) }),
  };
}
