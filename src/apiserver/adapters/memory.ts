// The way in for components of this process: calls of a transport, without bytes. Bodies are handed over as they are, answers and events are the
// frozen objects of the cache; identity, authorization, admission, validation and the audit log are those of every request.
import { badRequest } from '#apimachinery/errors';
import { apiVersionOf, type KubeObject, type UnknownObject } from '#apimachinery/meta';
import { decode } from '#apimachinery/schema';
import {
  type ApiCall,
  callBody,
  callPath,
  failureOf,
  httpMethod,
  type Transport,
  type WatchCall,
  watchPath,
  type WatchStream,
} from '#apimachinery/transport';
import type { Next } from '../chain/chain.ts';
import type { Body, Incoming, Patch } from '../chain/incoming.ts';
import type { Outcome } from '../chain/outcome.ts';
import { Cancellation, NoAnswerError } from '../request/cancellation.ts';
import { createNotes } from '../request/notes.ts';
import { noOptions, type RequestOptions } from '../request/options.ts';
import type { UserInfo } from '../request/request.ts';
import type { AnswerContext } from '../endpoints/answer-context.ts';
import { MemoryReply } from './memory-reply.ts';
import { serveRaw } from './raw.ts';

/** What the transports of one server share. */
export interface MemoryWay {
  context: AnswerContext;
  serve: Next;
  /** Undefined when a call may go on at once: calls made in bulk are let in a few per turn of the event loop. */
  turn(): Promise<void> | undefined;
}

const optionsOf = (given: (ApiCall['options'] & WatchCall['options']) | undefined, watch: boolean): RequestOptions => {
  if (!given) return watch ? { watch } : noOptions;
  const { dryRun, ...rest } = given;
  const options: RequestOptions = { ...rest, ...(watch && { watch }) };
  if (dryRun) options.dryRun = ['All'];
  return options;
};

const noBody = (): Promise<never> => Promise.reject(badRequest('the request has no body'));
const emptyBody: Body = {
  arrive: () => Promise.resolve(),
  decode: noBody,
  patch: noBody,
  deleteOptions: () => Promise.resolve(undefined),
};

/** What a body decodes to is a private, canonical copy that the registry works on. */
const bodyOf = (call: ApiCall): Body => ({
  arrive: () => Promise.resolve(),
  async decode(target) {
    const source = call.object ?? call.patch?.body;
    if (source === undefined) return noBody();
    const strict = (call.options?.fieldValidation ?? 'Ignore') !== 'Ignore';
    const read = target.read?.(source, strict) ?? decode(target.schema, target.typeName, source, { strict });
    const object = read.object as UnknownObject;
    object.kind = target.kind;
    object.apiVersion = apiVersionOf(target.group, target.version);
    object.metadata ??= {};
    return { object, strictErrors: read.strictErrors };
  },
  patch: (): Promise<Patch> =>
    Promise.resolve({ type: call.patch?.type ?? 'application/merge-patch+json', value: call.patch?.body, strictErrors: [] }),
  deleteOptions: () => Promise.resolve(call.deleteOptions && { ...call.deleteOptions }),
  asSent: () => callBody(call),
});

type Asked = { call: ApiCall; watch?: undefined } | { call?: undefined; watch: WatchCall };

const noHeaders = Object.freeze({});
const noSegments: readonly string[] = [];

function memoryIncoming(way: MemoryWay, who: { user: UserInfo; userAgent: string }, asked: Asked, signal?: AbortSignal) {
  const { clock, random } = way.context;
  const { group, version, resource, namespace = '', options } = asked.call ?? asked.watch;
  const { verb, name = '', subresource = '' } = asked.call ?? { verb: 'watch' };
  const notes = createNotes();
  // A namespace is in itself, as its path says.
  const scope = namespace === '' && resource === 'namespaces' ? name : namespace;
  const target = { group, version, resource, subresource, namespace: scope, name };
  let auditId: string | undefined;
  const pathOf = (): string => (asked.call ? callPath(asked.call) : watchPath(asked.watch));
  const reply = new MemoryReply(way.context, notes);
  return {
    via: 'memory',
    progress: 'identified',
    user: who.user,
    userAgent: who.userAgent,
    verb,
    method: asked.call ? httpMethod[asked.call.verb] : 'GET',
    target,
    options: optionsOf(options, asked.watch !== undefined),
    now: clock.now(),
    headers: noHeaders,
    segments: noSegments,
    query: '',
    remoteAddress: '127.0.0.1',
    get auditId() {
      return (auditId ??= random.uuid());
    },
    get uri() {
      return pathOf();
    },
    get path() {
      return pathOf().replace(/\?.*$/, '');
    },
    cancellation: new Cancellation(() => signal),
    notes,
    reply,
    body: asked.call ? bodyOf(asked.call) : emptyBody,
  } satisfies Incoming;
}

/** Failures reach a component as errors: the Status, or what keeps every answer from it. */
function answerOf(outcome: Outcome, { reply, method, target }: ReturnType<typeof memoryIncoming>): MemoryReply {
  if (outcome.is === 'failed') throw outcome.cause instanceof NoAnswerError ? outcome.cause : outcome.error;
  if (outcome.is === 'answered') throw new Error('the endpoint answers in bytes');
  if (outcome.is === 'bytes') throw failureOf({ status: outcome.status, text: String(outcome.body) }, method, target);
  return reply;
}

export function createMemoryTransport(way: MemoryWay, user: UserInfo, userAgent: string): Transport {
  let closed = false;
  const running = new Set<() => void>();
  const who = { user, userAgent };
  const run = async (asked: Asked, signal: AbortSignal | undefined): Promise<MemoryReply> => {
    if (closed) throw new Error('the transport is closed');
    const request = memoryIncoming(way, who, asked, signal);
    return answerOf(await way.serve(request), request);
  };
  return {
    async call<T = KubeObject>(call: ApiCall, signal?: AbortSignal): Promise<T> {
      const wait = way.turn();
      if (wait) await wait;
      return (await run({ call }, signal)).value as T;
    },
    async watch<T extends KubeObject = KubeObject>(call: WatchCall, signal?: AbortSignal): Promise<WatchStream<T>> {
      const reply = await run({ watch: call }, signal);
      const { stream } = reply;
      if (!stream) throw badRequest('not a watch');
      const stop = (): void => stream.stop();
      running.add(stop);
      reply.onEnd(() => void running.delete(stop));
      signal?.addEventListener('abort', stop, { once: true });
      return stream as WatchStream<T>;
    },
    raw: (method, path, body, signal) =>
      closed ? Promise.reject(new Error('the transport is closed')) : serveRaw(way, user, { method, path, body, signal }),
    close() {
      closed = true;
      for (const stop of running) stop();
    },
  };
}
