// The direct transport on resources of other API servers: components of this process reach them as clients over HTTPS do.
import type { Readable } from 'node:stream';
import type { KubeObject } from '#apimachinery/meta';
import { serviceUnavailable } from '#apimachinery/errors';
import {
  type ApiCall,
  callBody,
  callPath,
  eventReader,
  failureOf,
  httpMethod,
  type WatchCall,
  watchPath,
  type WatchStream,
} from '#apimachinery/transport';
import type { UserInfo } from '../contracts.ts';
import { remoteDocumentBytesMax, requestTimeoutMs } from '../limits.ts';
import { dialErrorText } from '../dial-error.ts';
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
export async function callRemote<T>(
  connections: RemoteConnections,
  remote: Remote,
  user: UserInfo,
  call: ApiCall,
  signal: AbortSignal | undefined,
): Promise<T> {
  const method = httpMethod[call.verb];
  const bound = AbortSignal.any([AbortSignal.timeout(requestTimeoutMs), ...(signal ? [signal] : [])]);
  const request = { method, path: callPath(call), body: callBody(call) };
  const answer = await send(reach(connections, remote), user, request, bound);
  const text = await answer.text(remoteDocumentBytesMax);
  const { status, headers } = answer;
  if (status < 200 || status > 206) throw failureOf({ status, text, retryAfter: headers['retry-after'] }, method, call);
  return JSON.parse(text) as T;
}

export async function watchRemote<T extends KubeObject>(
  connections: RemoteConnections,
  remote: Remote,
  user: UserInfo,
  call: WatchCall,
  signal: AbortSignal | undefined,
): Promise<WatchStream<T>> {
  const abort = new AbortController();
  const bound = signal ? AbortSignal.any([abort.signal, signal]) : abort.signal;
  const { status, headers, body, text } = await send(
    reach(connections, remote),
    user,
    { method: 'GET', path: watchPath(call) },
    bound,
  );
  if (status !== 200) throw failureOf({ status, text: await text(), retryAfter: headers['retry-after'] }, 'GET', call);
  return streamOf<T>(body, () => abort.abort());
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
