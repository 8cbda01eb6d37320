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
import type { Next } from '../chain/link.ts';
import type { Body, Incoming, Patch } from '../chain/incoming.ts';
import type { Outcome } from '../chain/outcome.ts';
import { Cancellation, NoAnswerError } from '../request/cancellation.ts';
import { createNotes } from '../request/notes.ts';
import { noOptions, type RequestOptions, type RequestProgress, type Target, type UserInfo } from '../request/request.ts';
import type { AnswerContext } from '../endpoints/answer-context.ts';
import { MemoryReply } from './memory-reply.ts';
import { serveRaw } from './raw.ts';

/** What the transports of one server share. */
export interface MemoryWay {
  context: AnswerContext;
  serve: Next;
  /** Waits until a call may go on; undefined when it may at once. Calls made in bulk are let in a few per turn of the event loop, the namespaces by turns. */
  turn(namespace: string | undefined): Promise<void> | undefined;
}

const optionsOf = (given: (ApiCall['options'] & WatchCall['options']) | undefined, watch: boolean): RequestOptions => {
  if (!given) return watch ? { watch } : noOptions;
  const { dryRun, ...rest } = given;
  const options: RequestOptions = { ...rest, ...(watch && { watch }) };
  if (dryRun) options.dryRun = ['All'];
  return options;
};

const noBody = (): Promise<never> => Promise.reject(badRequest('the request has no body'));
const defaultPatchType = 'application/merge-patch+json';
const emptyBody: Body = {
  checkType: () => undefined,
  arrive: () => Promise.resolve(),
  decode: noBody,
  patchType: () => defaultPatchType,
  patch: noBody,
  deleteOptions: () => Promise.resolve(undefined),
};

/** What a body decodes to is a private, canonical copy that the registry works on. */
const bodyOf = (call: ApiCall): Body => ({
  checkType: () => undefined,
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
  patchType: () => call.patch?.type ?? defaultPatchType,
  patch: (): Promise<Patch> =>
    Promise.resolve({ type: call.patch?.type ?? defaultPatchType, value: call.patch?.body, strictErrors: [] }),
  deleteOptions: () => Promise.resolve(call.deleteOptions && { ...call.deleteOptions }),
  asSent: () => callBody(call),
});

type Asked = { call: ApiCall; watch?: undefined } | { call?: undefined; watch: WatchCall };

const noHeaders = Object.freeze({});
const noSegments: readonly string[] = [];

/** One class, and what few ask for is made when asked: V8 keeps an object put together with getters as a dictionary, ten times as slow to make. */
class MemoryIncoming implements Incoming {
  readonly via = 'memory';
  progress: RequestProgress = 'identified';
  user: UserInfo;
  readonly userAgent: string;
  readonly verb: string;
  readonly target: Target;
  readonly options: RequestOptions;
  readonly headers = noHeaders;
  readonly segments = noSegments;
  readonly query = '';
  readonly remoteAddress = '127.0.0.1';
  readonly now: number;
  readonly notes = createNotes();
  readonly cancellation: Cancellation;
  readonly reply: MemoryReply;
  readonly #context: AnswerContext;
  readonly #asked: Asked;
  #auditId: string | undefined;
  #body: Body | undefined;

  constructor(context: AnswerContext, who: { user: UserInfo; userAgent: string }, asked: Asked, signal: AbortSignal | undefined) {
    this.#context = context;
    this.#asked = asked;
    this.user = who.user;
    this.userAgent = who.userAgent;
    const call: ApiCall | undefined = asked.call;
    const { group, version, resource, namespace = '', options } = asked.call ?? asked.watch;
    const name = call?.name ?? '';
    this.verb = call?.verb ?? 'watch';
    // A namespace is in itself, as its path says.
    const scope = namespace === '' && resource === 'namespaces' ? name : namespace;
    this.target = { group, version, resource, subresource: call?.subresource ?? '', namespace: scope, name };
    this.options = optionsOf(options, call === undefined);
    this.now = context.clock.now();
    this.cancellation = new Cancellation(() => signal);
    this.reply = new MemoryReply(context, this.notes);
  }

  get method(): string {
    return this.#asked.call ? httpMethod[this.#asked.call.verb] : 'GET';
  }
  get auditId(): string {
    return (this.#auditId ??= this.#context.random.uuid());
  }
  get uri(): string {
    return this.#asked.call ? callPath(this.#asked.call) : watchPath(this.#asked.watch);
  }
  get path(): string {
    return this.uri.replace(/\?.*$/, '');
  }
  get body(): Body {
    return (this.#body ??= this.#asked.call ? bodyOf(this.#asked.call) : emptyBody);
  }
}

/** Failures reach a component as errors: the Status, or what keeps every answer from it. */
function answerOf(outcome: Outcome, { reply, method, target }: MemoryIncoming): MemoryReply {
  if (outcome.is === 'failed') throw outcome.cause instanceof NoAnswerError ? outcome.cause : outcome.error;
  if (outcome.is === 'answered') throw new Error('the endpoint answers in bytes');
  if (outcome.is === 'bytes') throw failureOf({ status: outcome.status, text: String(outcome.body) }, method, target);
  return reply;
}

export function createMemoryTransport(way: MemoryWay, user: UserInfo, userAgent: string): Transport {
  let closed = false;
  const running = new Set<() => void>();
  const who = { user, userAgent };
  const run = async <T>(asked: Asked, signal: AbortSignal | undefined, take: (reply: MemoryReply) => T): Promise<T> => {
    const wait = asked.call && way.turn(asked.call.namespace);
    if (wait) await wait;
    if (closed) throw new Error('the transport is closed');
    const request = new MemoryIncoming(way.context, who, asked, signal);
    return take(answerOf(await way.serve(request), request));
  };
  return {
    call: <T = KubeObject>(call: ApiCall, signal?: AbortSignal): Promise<T> => run({ call }, signal, ({ value }) => value as T),
    watch: <T extends KubeObject = KubeObject>(call: WatchCall, signal?: AbortSignal): Promise<WatchStream<T>> =>
      run({ watch: call }, signal, (reply) => {
        const { stream } = reply;
        if (!stream) throw badRequest('not a watch');
        const stop = (): void => stream.stop();
        // A signal may live as long as the component, which watches many times.
        reply.onEnd(() => {
          running.delete(stop);
          signal?.removeEventListener('abort', stop);
        });
        if (closed || signal?.aborted) stop();
        else if (reply.streaming) {
          running.add(stop);
          signal?.addEventListener('abort', stop, { once: true });
        }
        return stream as WatchStream<T>;
      }),
    raw: (method, path, body, signal) =>
      closed ? Promise.reject(new Error('the transport is closed')) : serveRaw(way, user, { method, path, body, signal }),
    close() {
      closed = true;
      for (const stop of running) stop();
    },
  };
}
