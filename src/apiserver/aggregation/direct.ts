// Calls of components of this process on resources of other API servers: they go out as a client's over HTTPS do.
import type { Readable } from '../platform/streams.ts';
import { builtinSchema } from '#api';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import { plainError, serviceUnavailable } from '#apimachinery/errors';
import { decode } from '#apimachinery/schema';
import { eventReader, failureOf, type WatchStream } from '#apimachinery/transport';
import type { WatchEvent } from '#apimachinery/watch';
import { dialErrorText, type WireClient } from '#wire';
import type { Incoming } from '../chain/incoming.ts';
import { remoteDocumentBytesMax } from '../limits.ts';
import type { Target, UserInfo } from '../request/request.ts';
import { identityHeaders } from './identity.ts';
import type { Remote, RemoteConnections } from './remotes.ts';

/** Rejects with 503 in the words of the proxy. */
function reach(connections: RemoteConnections, remote: Remote): ReturnType<RemoteConnections['to']> {
  if (!remote.available) throw serviceUnavailable('service unavailable');
  try {
    return connections.to(remote);
  } catch {
    throw serviceUnavailable('service unavailable');
  }
}

type Answer = Awaited<ReturnType<WireClient['request']>>;

async function send(
  { client, host }: ReturnType<RemoteConnections['to']>,
  user: UserInfo,
  request: { method: string; path: string; body?: { type: string; value: unknown } | undefined },
  signal: AbortSignal,
): Promise<Answer> {
  const { method, path, body } = request;
  try {
    return await client.request({
      method,
      path,
      headers: { accept: 'application/json', ...(body && { 'content-type': body.type }), ...identityHeaders(user) },
      ...(body && { body: JSON.stringify(body.value) }),
      signal,
    });
  } catch (error) {
    throw serviceUnavailable(`error trying to reach service: ${dialErrorText(error, host)}`);
  }
}

/** What the headers of a failure say of it. */
const told = (headers: Answer['headers']) => ({ type: headers['content-type'], retryAfter: headers['retry-after'] });

/** Rejects with `StatusError` for every answer that is not 2xx. */
export async function callRemote(connections: RemoteConnections, remote: Remote, request: Incoming): Promise<unknown> {
  const { method, uri: path, user, cancellation } = request;
  const sent = { method, path, body: request.body.asSent?.() };
  const answer = await send(reach(connections, remote), user, sent, cancellation.signal);
  const text = await answer.text(remoteDocumentBytesMax);
  const { status, headers } = answer;
  if (status < 200 || status > 206) throw failureOf({ status, text, ...told(headers) }, method, request.target as Target);
  const value = JSON.parse(text) as unknown;
  if (request.verb === 'list') return listOf(value);
  return objectVerbs.has(request.verb ?? '') && !(request.target as Target).subresource ? objectOf(value) : value;
}

const objectVerbs: ReadonlySet<string> = new Set(['get', 'create', 'update', 'patch', 'delete']);
const isObject = (value: unknown): value is UnknownObject => typeof value === 'object' && value !== null && !Array.isArray(value);
const anyObject = 'io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata';

/** The object with metadata of its type, on which control loops rely. Throws an Error when the value is not an object. */
function objectOf(value: unknown): UnknownObject {
  if (!isObject(value)) throw plainError('the other API server answered what is no object');
  const { metadata = {} } = value;
  const { object } = decode(builtinSchema(), anyObject, { metadata });
  return { ...value, metadata: (object as Partial<UnknownObject>).metadata ?? {} };
}

function listOf(value: unknown): UnknownObject {
  const list = objectOf(value) as UnknownObject & { items?: unknown };
  return { ...list, items: Array.isArray(list.items) ? list.items.map(objectOf) : [] } as UnknownObject;
}

/** The event with an object whose metadata are of their type; a bookmark or an error has the object of its own kind. */
function eventOf<T extends KubeObject>({ type, object }: WatchEvent<T>): WatchEvent<T> {
  return { type, object: type === 'ERROR' ? object : objectOf(object) } as WatchEvent<T>;
}

export async function watchRemote(
  connections: RemoteConnections,
  remote: Remote,
  request: Incoming,
): Promise<WatchStream<KubeObject>> {
  const { uri: path, user, cancellation } = request;
  const abort = new AbortController();
  const signal = AbortSignal.any([abort.signal, cancellation.signal]);
  const { status, headers, body, text } = await send(reach(connections, remote), user, { method: 'GET', path }, signal);
  if (status !== 200)
    throw failureOf({ status, text: await text(remoteDocumentBytesMax), ...told(headers) }, 'GET', request.target as Target);
  return streamOf(body, () => abort.abort());
}

function streamOf<T extends KubeObject>(body: Readable, cut: () => void): WatchStream<T> {
  let stopped = false;
  return {
    subscribe(handler, end) {
      const read = eventReader<T>((event) => {
        if (!stopped) handler(eventOf(event));
      }, remoteDocumentBytesMax);
      const follow = async (): Promise<void> => {
        body.setEncoding('utf8');
        for await (const piece of body) read(piece as string);
      };
      follow().then(
        () => end(),
        (error: Error) => end(stopped ? undefined : error),
      );
    },
    stop() {
      stopped = true;
      cut();
      body.destroy();
    },
  };
}
