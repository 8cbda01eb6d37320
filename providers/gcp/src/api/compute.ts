// The Compute Engine API v1 over its REST interface. A change resolves once its operation is done: Google answers at once, and does the work in its
// own time. Every change carries a request ID, under which Google does it once however often it arrives.
import { randomUUID } from 'node:crypto';
import type { Clock, ProviderMetrics, Rng } from 'sagong/cloud-provider';
import {
  allPages,
  type CallError,
  callErrorOf,
  callMetrics,
  type Calls,
  CallError as FailedCall,
  createCalls,
  type HttpAnswer,
  poll,
  type RateLimiter,
  sendHttp,
  tokenBucket,
} from 'sagong/cloud-provider/kit';
import {
  operationAgainMs,
  operationDeadlineMs,
  operationWaitMs,
  pageItems,
  requestsBurst,
  requestsPerSecond,
} from '../limits.ts';
import { failureOf, OperationError } from './errors.ts';
import { labelsOf, metricLabels } from './metrics.ts';
import type { List, Operation, Place } from './types.ts';

/** Gives the headers that authenticate a request. */
export interface TokenSource {
  headers(url: string, signal?: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /** The API refused the last token. */
  refused(): void;
}

export interface ComputeOptions {
  /** `https://compute.googleapis.com/compute/v1/`, or what stands in its place. */
  endpoint: string;
  tokens: TokenSource;
  clock: Clock;
  rng?: Rng;
  metrics?: ProviderMetrics;
}

/** The resources of one kind in one place. Methods reject with an error of the kit that names the call. */
export interface Collection<T> {
  /** Rejects with kind `absent` when there is none. */
  get(name: string): Promise<T>;
  list(filter?: string): Promise<T[]>;
  insert(resource: T): Promise<void>;
  patch(name: string, changes: Partial<T>): Promise<void>;
  delete(name: string): Promise<void>;
  /** A method of its own that changes, as `addInstance`. */
  act(name: string, method: string, body: unknown): Promise<void>;
  /** A method of its own that asks for a list, as `listInstances`. */
  ask<Item>(name: string, method: string, body: unknown): Promise<Item[]>;
}

export interface ComputeApi {
  collection<T>(kind: string, project: string, place: Place, signal?: AbortSignal): Collection<T>;
  /** The name of a project that is known by its number. */
  projectName(project: string): Promise<string>;
  /** The link of a resource. */
  link(project: string, place: Place, kind: string, name: string): string;
}

const pathOf = (project: string, place: Place): string => {
  if (place === 'project') return `projects/${project}`;
  if (place === 'global') return `projects/${project}/global`;
  return 'zone' in place ? `projects/${project}/zones/${place.zone}` : `projects/${project}/regions/${place.region}`;
};

interface Request {
  method: string;
  path: string;
  query?: Readonly<Record<string, string>>;
  body?: unknown;
}

class RestApi implements ComputeApi {
  readonly #options: ComputeOptions;
  readonly #endpoint: string;
  readonly #calls: Calls;
  readonly #limiter: RateLimiter;
  readonly #observer: ReturnType<typeof callMetrics>;
  /** Labels of the calls under way, by the name under which they are observed. */
  readonly #labels = new Map<string, string[]>();

  constructor(options: ComputeOptions) {
    const { clock, rng, metrics, endpoint } = options;
    this.#options = options;
    this.#endpoint = endpoint.endsWith('/') ? endpoint : `${endpoint}/`;
    this.#limiter = tokenBucket({ clock, perSecond: requestsPerSecond, burst: requestsBurst });
    const classify = (error: unknown) => failureOf(error, clock.now());
    this.#calls = createCalls({ clock, ...(rng && { rng }), classify, limiter: this.#limiter });
    this.#observer = callMetrics({
      metrics,
      vendor: 'gce',
      labels: metricLabels,
      labelsOf: (call) => this.#labels.get(call),
      help: { duration: 'Latency of a GCE API call', errors: 'Number of errors for an API call' },
    });
  }
  link(project: string, place: Place, kind: string, name: string): string {
    return `${this.#endpoint}${pathOf(project, place)}/${kind}/${name}`;
  }
  async projectName(project: string): Promise<string> {
    const answer = await this.#calls.read('projects.get', (signal) =>
      this.#send({ method: 'GET', path: `projects/${project}` }, signal),
    );
    return answer.json<{ name?: string }>().name ?? project;
  }
  collection<T>(kind: string, project: string, place: Place, signal?: AbortSignal): Collection<T> {
    const base = `${pathOf(project, place)}/${kind}`;
    const at = (name: string, method?: string): string => `${base}/${encodeURIComponent(name)}${method ? `/${method}` : ''}`;
    const observed = <A>(method: string, work: () => Promise<A>): Promise<A> => this.#observed(kind, method, place, work);
    const read = (method: string, request: Request): Promise<HttpAnswer> =>
      this.#calls.read(`${kind}.${method}`, (until) => this.#send(request, until), signal ? { signal } : {});
    const change = (method: string, request: Request): Promise<void> =>
      observed(method, () => this.#change(`${kind}.${method}`, request, project, place, signal));
    const all = <Item>(method: string, request: Omit<Request, 'query'>, query: Readonly<Record<string, string>> = {}) =>
      observed(method, () =>
        allPages<Item, string>(async (pageToken) => {
          const page = { ...query, maxResults: String(pageItems), ...(pageToken && { pageToken }) };
          const { kind, items, nextPageToken } = (await read(method, { ...request, query: page })).json<List<Item>>();
          // An empty list has no `items`; what is no list has no `kind`.
          if (typeof kind !== 'string' || items === null) throw new Error('the answer is no list');
          return { items, next: nextPageToken };
        }),
      );
    return {
      get: (name) => observed('get', async () => (await read('get', { method: 'GET', path: at(name) })).json<T>()),
      list: (filter) => all<T>('list', { method: 'GET', path: base }, filter ? { filter } : {}),
      insert: (body) => change('insert', { method: 'POST', path: base, body }),
      patch: (name, body) => change('patch', { method: 'PATCH', path: at(name), body }),
      delete: (name) => change('delete', { method: 'DELETE', path: at(name) }),
      act: (name, method, body) => change(method, { method: 'POST', path: at(name, method), body }),
      ask: <Item>(name: string, method: string, body: unknown) =>
        all<Item>(method, { method: 'POST', path: at(name, method), body }),
    };
  }

  async #send({ method, path, query = {}, body }: Request, signal: AbortSignal): Promise<HttpAnswer> {
    const url = new URL(this.#endpoint + path);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const headers = await this.#options.tokens.headers(url.href, signal);
    try {
      return await sendHttp({ method, url: url.href, headers, signal, ...(body !== undefined && { body }) });
    } catch (error) {
      if ((error as { status?: unknown }).status === 401) this.#options.tokens.refused();
      throw error;
    }
  }
  async #change(name: string, request: Request, project: string, place: Place, signal?: AbortSignal): Promise<void> {
    const query = { requestId: this.#options.rng?.uuid() ?? randomUUID() };
    const attempt = (until: AbortSignal): Promise<HttpAnswer> => this.#send({ ...request, query }, until);
    const answer = await this.#calls.write(name, attempt, { idempotent: true, ...(signal && { signal }) });
    const operation = await this.#waitFor(name, answer.json<Operation>(), project, place, signal);
    if (!operation.error) return;
    const error = new OperationError(operation);
    throw new FailedCall(name, failureOf(error, this.#options.clock.now()), error);
  }
  /** Google holds the answer until the operation is done, or for two minutes. */
  #waitFor(name: string, begun: Operation, project: string, place: Place, signal?: AbortSignal): Promise<Operation> {
    let operation = begun;
    const path = `${pathOf(project, place)}/operations/${operation.name}/wait`;
    return poll({
      what: `operation ${operation.name} of ${name}`,
      clock: this.#options.clock,
      deadlineMs: operationDeadlineMs,
      againAfterMs: operationAgainMs,
      everyMs: 100,
      ...(signal && { signal }),
      ask: async () => {
        if (operation.status === 'DONE') return { done: true, value: operation };
        const attempt = (until: AbortSignal): Promise<HttpAnswer> => this.#send({ method: 'POST', path }, until);
        const wait = { timeoutMs: operationWaitMs, ...(signal && { signal }) };
        operation = (await this.#calls.read('operations.wait', attempt, wait)).json<Operation>();
        return operation.status === 'DONE' ? { done: true, value: operation } : { done: false, state: operation.status ?? '' };
      },
    });
  }
  async #observed<A>(kind: string, method: string, place: Place, work: () => Promise<A>): Promise<A> {
    const { clock } = this.#options;
    const labels = labelsOf(kind, method, place);
    const name = labels.join(' ');
    this.#labels.set(name, labels);
    const startedMs = clock.monotonic();
    let failed: CallError | undefined;
    try {
      return await work();
    } catch (error) {
      failed = callErrorOf(error);
      throw error;
    } finally {
      this.#observer.ended(name, clock.monotonic() - startedMs, failed);
    }
  }
}

export const createComputeApi = (options: ComputeOptions): ComputeApi => new RestApi(options);
