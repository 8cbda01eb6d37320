// The direct transport (design: "Direct and wire"): the same chain as HTTP - identity, authorization, admission, validation, storage - without
// bytes. Answers and events are the frozen objects of the cache.
import { badRequest, StatusError } from '#apimachinery/errors';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import { decode } from '#apimachinery/schema';
import type { ApiCall, CallOptions, PatchType, Transport, WatchCall, WatchStream } from '#apimachinery/transport';
import type { WatchEvent } from '#apimachinery/watch';
import type { UserInfo } from '../contracts.ts';
import { bookmarkIntervalMs } from '../limits.ts';
import type { ServedResource } from '../registry/generic/types.ts';
import type { WatchStart } from '../registry/generic/watch.ts';
import type { ServerContext } from '../server-context.ts';
import type { BodySource, Outcome, ResourceCall } from './call.ts';
import { attributesOf } from './exchange.ts';
import { execute } from './execute.ts';
import { pathNotFound } from './route-errors.ts';
import type { RequestInfo } from './request-info.ts';
import { inVersion } from './respond.ts';
import { prepareSpecial, runSpecial, specialTarget } from './special-handler.ts';
import { initialEventsEnd } from './watch-stream.ts';
import { apiVersionOf } from '#apimachinery/meta';
import type { ListOptions } from '../registry/generic/list-options.ts';

const emptyBody: BodySource = {
  decode: () => Promise.reject(badRequest('the request has no body')),
  patch: () => Promise.reject(badRequest('the request has no body')),
  raw: () => Promise.resolve({ bytes: Buffer.alloc(0), encoding: 'json' }),
};

function bodyOf({ object, patch, deleteOptions }: ApiCall): BodySource {
  return {
    ...emptyBody,
    // Decoding makes the private, canonical copy that the registry works on.
    decode: (target) =>
      Promise.resolve().then(() => {
        const read = (target.read?.(object, false).object ??
          decode(target.schema, target.typeName, object).object) as UnknownObject;
        read.kind = target.kind;
        read.apiVersion = apiVersionOf(target.group, target.version);
        read.metadata ??= {};
        return { object: read, strictErrors: [] };
      }),
    patch: () =>
      Promise.resolve({
        type: patch?.type ?? ('application/merge-patch+json' satisfies PatchType),
        value: patch?.body,
        strictErrors: [],
      }),
    raw: () =>
      Promise.resolve({ bytes: deleteOptions ? Buffer.from(JSON.stringify(deleteOptions)) : Buffer.alloc(0), encoding: 'json' }),
  };
}

const parameterNames = [
  'labelSelector',
  'fieldSelector',
  'resourceVersion',
  'resourceVersionMatch',
  'limit',
  'continue',
  'fieldManager',
  'fieldValidation',
  'force',
  'allowWatchBookmarks',
  'sendInitialEvents',
  'timeoutSeconds',
] as const;

function queryOf(options: (CallOptions & WatchCall['options']) | undefined): URLSearchParams {
  const query = new URLSearchParams();
  if (!options) return query;
  for (const name of parameterNames) {
    const value = options[name];
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  if (options.dryRun) query.set('dryRun', 'All');
  return query;
}

type Asked = Pick<ApiCall, 'group' | 'version' | 'resource' | 'namespace' | 'name' | 'subresource'>;

const infoOf = (asked: Asked, verb: string): RequestInfo => ({
  isResource: true,
  verb,
  path: '',
  group: asked.group,
  version: asked.version,
  namespace: asked.namespace ?? (asked.resource === 'namespaces' ? (asked.name ?? '') : ''),
  resource: asked.resource,
  subresource: asked.subresource ?? '',
  name: asked.name ?? '',
  parts: [],
  forceWatch: false,
});

export function createDirectTransport(context: ServerContext, user: UserInfo, userAgent: string): Transport {
  let closed = false;
  const running = new Set<() => void>();
  const enter = async (asked: Asked, verb: string, query: URLSearchParams): Promise<RequestInfo> => {
    if (closed) throw new Error('the transport is closed');
    const info = infoOf(asked, verb);
    await context.authorize(attributesOf(info, user, query));
    return info;
  };
  const resourceOf = ({ group, version, resource }: Asked): ServedResource => {
    const found = context.table.find(group, version, resource);
    if (!found) throw pathNotFound();
    return found;
  };
  const callOf = (
    info: RequestInfo,
    resource: ServedResource,
    query: URLSearchParams,
    body: BodySource,
    signal: AbortSignal | undefined,
  ): ResourceCall => ({
    user,
    verb: info.verb,
    resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    query,
    forceWatch: info.verb === 'watch',
    userAgent,
    now: context.clock.now(),
    body,
    signal,
    warn() {},
  });
  return {
    async call<T = KubeObject>(call: ApiCall, signal?: AbortSignal): Promise<T> {
      const query = queryOf(call.options);
      const info = await enter(call, call.verb, query);
      const remote = context.aggregator?.of(call.group, call.version);
      if (remote) return context.aggregator?.call<T>(remote, user, call, signal) as Promise<T>;
      const special = context.special(call.group, call.version, call.resource, call.subresource ?? '');
      if (special) return callSpecial(context, user, special, call, query, signal) as Promise<T>;
      const resource = resourceOf(call);
      const outcome = await execute(context.executor, callOf(info, resource, query, bodyOf(call), signal));
      return answerOf(resource, outcome) as T;
    },
    async watch<T extends KubeObject = KubeObject>(call: WatchCall, signal?: AbortSignal): Promise<WatchStream<T>> {
      const query = queryOf(call.options);
      const info = await enter(call, 'watch', query);
      const remote = context.aggregator?.of(call.group, call.version);
      if (remote) return context.aggregator?.watch<T>(remote, user, call, signal) as Promise<WatchStream<T>>;
      const resource = resourceOf(call);
      const outcome = await execute(context.executor, callOf(info, resource, query, emptyBody, signal));
      if (outcome.is !== 'watch') throw badRequest('not a watch');
      const stream = new DirectWatch(context, resource, outcome.start, outcome.options, () => running.delete(stop));
      const stop = (): void => stream.stop();
      running.add(stop);
      signal?.addEventListener('abort', stop, { once: true });
      return stream as unknown as WatchStream<T>;
    },
    raw: (method, path, body, signal) => {
      const failed = closed ? Promise.reject(new Error('the transport is closed')) : undefined;
      return failed ?? context.serveRaw(user, method, path, body, signal);
    },
    close() {
      closed = true;
      for (const stop of running) stop();
    },
  };
}

async function callSpecial(
  context: ServerContext,
  user: UserInfo,
  special: NonNullable<ReturnType<ServerContext['special']>>,
  call: ApiCall,
  query: URLSearchParams,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const target = specialTarget(context, special);
  const source = call.object ?? call.patch?.body;
  const object =
    target && source !== undefined && !special.connectOptions
      ? (await bodyOf({ ...call, object: source }).decode(target, 'Ignore')).object
      : undefined;
  if (object && target) {
    prepareSpecial(object, target, call.namespace ?? '');
    special.setDefaults?.(object);
  }
  const answer = await runSpecial(context, special, {
    user,
    method: call.verb === 'create' ? 'POST' : call.verb === 'update' ? 'PUT' : 'GET',
    namespace: call.namespace ?? '',
    name: call.name ?? '',
    subpath: '',
    query,
    object,
    dryRun: call.options?.dryRun ?? false,
    signal: signal ?? new AbortController().signal,
    options: {},
    warn() {},
  });
  if (answer === 'handled') throw new Error('the endpoint answers in bytes');
  return answer.object;
}

function answerOf(resource: ServedResource, outcome: Outcome): unknown {
  switch (outcome.is) {
    case 'stored':
      return inVersion(resource, outcome.stored).object;
    case 'value':
      return outcome.value;
    case 'list': {
      const { page } = outcome;
      const metadata = {
        resourceVersion: String(page.revision),
        ...(page.continueToken && { continue: page.continueToken }),
        ...(page.remaining !== undefined && { remainingItemCount: page.remaining }),
      };
      return {
        kind: resource.listKind,
        apiVersion: apiVersionOf(resource.group, resource.version),
        metadata,
        items: page.entries.map((entry) => inVersion(resource, entry).object),
      };
    }
    case 'watch':
      throw badRequest('use watch');
  }
}

type Handler = (event: WatchEvent) => void;

/** Hands events over in microtasks, so that a handler never runs inside the commit that caused the event. */
class DirectWatch implements WatchStream {
  readonly #context: ServerContext;
  readonly #resource: ServedResource;
  readonly #options: ListOptions;
  readonly #start: WatchStart;
  readonly #release: () => void;
  #queue: WatchEvent[] = [];
  #scheduled = false;
  #over = false;
  #handler: Handler | undefined;
  #ended: ((error?: Error) => void) | undefined;
  #stops: (() => void)[] = [];

  constructor(context: ServerContext, resource: ServedResource, start: WatchStart, options: ListOptions, release: () => void) {
    this.#context = context;
    this.#resource = resource;
    this.#options = options;
    this.#start = start;
    this.#release = release;
    const show = (type: WatchEvent['type'], object: KubeObject): void => this.#push({ type, object });
    for (const stored of start.initial) show('ADDED', inVersion(resource, stored).object);
    if (start.endMark) this.#bookmark(start.revision, initialEventsEnd);
    this.#stops.push(
      start.subscribe({
        onEvent: (event, type) => show(type, inVersion(resource, event.objectFor(type)).object),
        onEnd: (failure) =>
          this.#finish(new StatusError(failure ?? { code: 410, reason: 'Expired', message: 'too old resource version' })),
      }),
      context.watches.add(() => this.#finish()),
    );
    this.#timers();
  }

  subscribe(handler: Handler, end: (error?: Error) => void): void {
    this.#handler = handler;
    this.#ended = end;
    this.#schedule();
  }

  stop(): void {
    this.#queue = [];
    this.#finish();
  }

  #timers(): void {
    const { clock } = this.#context;
    const seconds = this.#options.timeoutSeconds ?? 0;
    if (seconds > 0) {
      const timer = clock.setTimer(seconds * 1000, () => this.#finish());
      this.#stops.push(() => timer.cancel());
    }
    if (!this.#options.allowWatchBookmarks) return;
    let cancel = (): void => {};
    const again = (): void => {
      const timer = clock.setTimer(bookmarkIntervalMs, () => {
        const { revision } = this.#context.feed;
        this.#bookmark(this.#start.reached?.(revision) ?? revision);
        again();
      });
      cancel = () => timer.cancel();
    };
    again();
    this.#stops.push(() => cancel());
  }

  #bookmark(revision: number, annotations?: Record<string, string>): void {
    const { kind, group, version } = this.#resource;
    const metadata = { resourceVersion: String(revision), ...(annotations && { annotations }) };
    this.#push({ type: 'BOOKMARK', object: { kind, apiVersion: apiVersionOf(group, version), metadata } });
  }

  #push(event: WatchEvent): void {
    if (this.#over) return;
    this.#queue.push(event);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || !this.#handler) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    const events = this.#queue;
    this.#queue = [];
    for (const event of events) {
      if (!this.#handler) return;
      this.#handler(event);
    }
    if (this.#over && this.#queue.length === 0) this.#tellEnd();
  }

  #error: Error | undefined;

  #finish(error?: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#error = error;
    for (const stop of this.#stops) stop();
    this.#release();
    if (this.#handler) this.#schedule();
  }

  #tellEnd(): void {
    const ended = this.#ended;
    this.#ended = undefined;
    this.#handler = undefined;
    ended?.(this.#error);
  }
}
