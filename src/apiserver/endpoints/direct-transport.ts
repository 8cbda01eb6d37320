// The direct transport (design: "Direct and wire"): the same chain as HTTP - identity, authorization, admission, validation, storage - without
// bytes. Answers and events are the frozen objects of the cache.
import { badRequest, internalError, type Status, StatusError } from '#apimachinery/errors';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import { decode } from '#apimachinery/schema';
import type { ApiCall, CallOptions, PatchType, Transport, WatchCall, WatchStream } from '#apimachinery/transport';
import { type AuditRecord, recordDecision, type Stage } from '../audit/index.ts';
import type { UserInfo } from '../contracts.ts';
import type { ServedResource } from '../registry/generic/types.ts';
import type { ServerContext } from '../server-context.ts';
import type { BodySource, Outcome, ResourceCall } from './call.ts';
import { attributesOf } from './exchange.ts';
import { execute } from './execute.ts';
import { pathNotFound } from './route-errors.ts';
import type { RequestInfo } from './request-info.ts';
import { inVersion } from './respond.ts';
import { prepareSpecial, runSpecial, specialTarget } from './special-handler.ts';
import { DirectWatch } from './direct-watch.ts';
import { apiVersionOf } from '#apimachinery/meta';

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

/** The URL a client of the wire would have sent. */
function uriOf(asked: Asked, query: URLSearchParams): string {
  const { group, version, namespace, resource, name, subresource } = asked;
  const place = namespace && resource !== 'namespaces' ? ['namespaces', namespace] : [];
  const parts = [...(group === '' ? ['api'] : ['apis', group]), version, ...place, resource, name, subresource];
  const text = query.toString();
  return `/${parts.filter((part) => part).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** A call on its way: what is asked, and its record in the audit log. */
interface Entered {
  info: RequestInfo;
  audit: AuditRecord | undefined;
  /** Writes a stage's event. */
  reach(stage: Stage, status?: number): Promise<void>;
}

async function failed(entered: Entered, error: unknown): Promise<void> {
  const { status } = error instanceof StatusError ? error : internalError(String(error));
  entered.audit?.responseStatus(status);
  entered.audit?.responseObject(() => JSON.stringify(status));
  await entered.reach('ResponseComplete');
}

export function createDirectTransport(context: ServerContext, user: UserInfo, userAgent: string): Transport {
  let closed = false;
  const running = new Set<() => void>();
  const begin = (asked: Asked, verb: string, query: URLSearchParams): Entered => {
    const info = infoOf(asked, verb);
    const { audit: trail, clock, random } = context;
    if (!trail) return { info, audit: undefined, reach: () => Promise.resolve() };
    const receivedMs = clock.now();
    const started = clock.monotonic();
    const requestUri = uriOf(asked, verb === 'watch' ? new URLSearchParams([...query, ['watch', 'true']]) : query);
    const received = { auditId: random.uuid(), requestUri, userAgent, receivedMs, remoteAddress: '127.0.0.1', headers: {} };
    const audit = trail.begin(received, attributesOf(info, user, query));
    return {
      info,
      audit,
      async reach(stage, status) {
        if (status !== undefined) audit?.responseCode(status);
        if (
          audit &&
          !(await trail.reach(audit, stage, receivedMs + clock.monotonic() - started)) &&
          stage === 'RequestReceived'
        ) {
          trail.rejected();
          throw internalError('failed to store audit event');
        }
      },
    };
  };
  const enter = async (asked: Asked, verb: string, query: URLSearchParams, entered: Entered): Promise<void> => {
    const { audit } = entered;
    if (audit) await entered.reach('RequestReceived');
    await context.authorize(attributesOf(entered.info, user, query), audit && ((decision) => recordDecision(audit, decision)));
  };
  const resourceOf = ({ group, version, resource }: Asked): ServedResource => {
    const found = context.table.find(group, version, resource);
    if (!found) throw pathNotFound();
    return found;
  };
  const callOf = (
    { info, audit }: Entered,
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
    audit,
  });
  const perform = async (entered: Entered, call: ApiCall, query: URLSearchParams, signal?: AbortSignal) => {
    await enter(call, call.verb, query, entered);
    const remote = context.aggregator?.of(call.group, call.version);
    if (remote) return { status: 200, value: await context.aggregator?.call(remote, user, call, signal) };
    const special = context.special(call.group, call.version, call.resource, call.subresource ?? '');
    if (special) return callSpecial(context, user, special, call, query, signal, entered.audit);
    const resource = resourceOf(call);
    const outcome = await execute(context.executor, callOf(entered, resource, query, bodyOf(call), signal));
    return { status: 'status' in outcome ? outcome.status : 200, value: answerOf(resource, outcome) };
  };
  return {
    async call<T = KubeObject>(call: ApiCall, signal?: AbortSignal): Promise<T> {
      if (closed) throw new Error('the transport is closed');
      const query = queryOf(call.options);
      const entered = begin(call, call.verb, query);
      if (!entered.audit) return (await perform(entered, call, query, signal)).value as T;
      try {
        const { status, value } = await perform(entered, call, query, signal);
        if ((value as KubeObject | undefined)?.kind === 'Status') entered.audit.responseStatus(value as Partial<Status>);
        entered.audit.responseObject(() => JSON.stringify(value));
        await entered.reach('ResponseComplete', status);
        return value as T;
      } catch (error) {
        await failed(entered, error);
        throw error;
      }
    },
    async watch<T extends KubeObject = KubeObject>(call: WatchCall, signal?: AbortSignal): Promise<WatchStream<T>> {
      if (closed) throw new Error('the transport is closed');
      const query = queryOf(call.options);
      const entered = begin(call, 'watch', query);
      try {
        await enter(call, 'watch', query, entered);
        const remote = context.aggregator?.of(call.group, call.version);
        if (remote) {
          const stream = (await context.aggregator?.watch<T>(remote, user, call, signal)) as WatchStream<T>;
          await entered.reach('ResponseStarted', 200);
          return stream;
        }
        const resource = resourceOf(call);
        const outcome = await execute(context.executor, callOf(entered, resource, query, emptyBody, signal));
        if (outcome.is !== 'watch') throw badRequest('not a watch');
        await entered.reach('ResponseStarted', 200);
        const stream = new DirectWatch(context, resource, outcome.start, outcome.options, () => {
          running.delete(stop);
          void entered.reach('ResponseComplete', 200);
        });
        const stop = (): void => stream.stop();
        running.add(stop);
        signal?.addEventListener('abort', stop, { once: true });
        return stream as unknown as WatchStream<T>;
      } catch (error) {
        if (entered.audit) await failed(entered, error);
        throw error;
      }
    },
    raw: (method, path, body, signal) => {
      const failure = closed ? Promise.reject(new Error('the transport is closed')) : undefined;
      return failure ?? context.serveRaw(user, method, path, body, signal);
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
  audit: AuditRecord | undefined,
): Promise<{ status: number; value: unknown }> {
  const target = specialTarget(context, special);
  const source = call.object ?? call.patch?.body;
  const object =
    target && source !== undefined && !special.connectOptions
      ? (await bodyOf({ ...call, object: source }).decode(target, 'Ignore')).object
      : undefined;
  if (object && target) {
    prepareSpecial(object, target, call.namespace ?? '');
    special.setDefaults?.(object);
    audit?.requestObject(() => JSON.stringify(object), object.metadata);
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
    audit,
  });
  if (answer === 'handled') throw new Error('the endpoint answers in bytes');
  return { status: answer.status, value: answer.object };
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
