// Calls of components of this process on resources of other API servers: they go out as a client's over HTTPS do.
import type { Readable } from '../platform/streams.ts';
import type { KubeObject } from '#apimachinery/meta';
import { serviceUnavailable } from '#apimachinery/errors';
import { eventReader, failureOf, type WatchStream } from '#apimachinery/transport';
import type { Incoming } from '../chain/incoming.ts';
import { remoteDocumentBytesMax } from '../limits.ts';
import type { Target, UserInfo } from '../request/request.ts';
import { dialErrorText } from '../outbound/dial-error.ts';
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

async function send(
  { client, host }: ReturnType<RemoteConnections['to']>,
  user: UserInfo,
  request: { method: string; path: string; body?: { type: string; value: unknown } | undefined },
  signal: AbortSignal,
): ReturnType<typeof client.request> {
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

/** Rejects with `StatusError` for every answer that is not 2xx. */
export async function callRemote(connections: RemoteConnections, remote: Remote, request: Incoming): Promise<unknown> {
  const { method, uri: path, user, cancellation } = request;
  const sent = { method, path, body: request.body.asSent?.() };
  const answer = await send(reach(connections, remote), user, sent, cancellation.signal);
  const text = await answer.text(remoteDocumentBytesMax);
  const { status, headers } = answer;
  if (status < 200 || status > 206)
    throw failureOf({ status, text, retryAfter: headers['retry-after'] }, method, request.target as Target);
  return JSON.parse(text) as unknown;
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
    throw failureOf({ status, text: await text(), retryAfter: headers['retry-after'] }, 'GET', request.target as Target);
  return streamOf(body, () => abort.abort());
}

function streamOf<T extends KubeObject>(body: Readable, cut: () => void): WatchStream<T> {
  let stopped = false;
  return {
    subscribe(handler, end) {
      const read = eventReader<T>((event) => {
        if (!stopped) handler(event);
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
