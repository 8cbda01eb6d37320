// Requests over few HTTP/2 connections (RFC 9113). A connection that says GOAWAY, is full or stops answering pings is replaced.
import {
  type ClientHttp2Session,
  connect,
  constants,
  type IncomingHttpHeaders as Http2Headers,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { limits } from '../limits.ts';
import { dialEndpoint, type Endpoint } from './dial.ts';
import type { ClientOptions, ClientRequest, ClientResponse } from './options.ts';
import { clientResponse } from './response.ts';

interface Session {
  raw: ClientHttp2Session;
  streams: number;
  /** Handed out by `pick` and about to become streams. */
  promised: number;
  /** Takes no new streams. */
  leaving: boolean;
}

export interface Http2Pool {
  request(request: ClientRequest): Promise<ClientResponse>;
  closeIdle(): void;
  close(): void;
}

/** The server did not process the request: it may be sent again, whatever its method. */
class NotProcessedError extends Error {}

const forbidden = new Set(['host', 'connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'proxy-connection']);

/** Notices a dead peer: after silence a ping, and the end when that stays unanswered (client-go's ReadIdleTimeout and PingTimeout). */
function watchHealth(session: ClientHttp2Session): void {
  session.setTimeout(limits.pingAfterIdleMs, () => {
    if (session.destroyed) return;
    const late = setTimeout(() => session.destroy(new Error('http2: client connection lost')), limits.pingTimeoutMs);
    late.unref();
    session.ping(() => clearTimeout(late));
  });
}

function send(session: Session, endpoint: Endpoint, request: ClientRequest): Promise<ClientResponse> {
  const headers: Record<string, string | string[]> = {
    ':method': request.method ?? 'GET',
    ':path': endpoint.pathPrefix + request.path,
    ':authority': endpoint.authority,
    ':scheme': endpoint.encrypted ? 'https' : 'http',
  };
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    const lower = name.toLowerCase();
    if (lower === 'host' && typeof value === 'string') headers[':authority'] = value;
    else if (!forbidden.has(lower)) headers[lower] = typeof value === 'string' ? value : [...value];
  }
  return new Promise((resolve, reject) => {
    const stream = session.raw.request(headers, {
      endStream: request.body === undefined,
      ...(request.signal && { signal: request.signal }),
    });
    session.streams++;
    let answered = false;
    let failure: Error | undefined;
    stream.once('response', (answer: Http2Headers & IncomingHttpStatusHeader) => {
      answered = true;
      resolve(clientResponse(answer[':status'] ?? 0, answer as IncomingHttpHeaders, stream));
    });
    stream.on('error', (error) => {
      failure = error;
    });
    stream.once('close', () => {
      session.streams--;
      if (session.leaving && session.streams === 0) session.raw.close();
      if (answered) return;
      const refused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
      reject(
        refused ? new NotProcessedError('stream refused') : (failure ?? new Error('http2: stream closed without a response')),
      );
    });
    if (request.body instanceof Readable) request.body.on('error', (error) => stream.destroy(error)).pipe(stream);
    else if (request.body !== undefined) stream.end(request.body);
  });
}

export function http2Pool(options: ClientOptions, endpoint: Endpoint): Http2Pool {
  const sessions = new Set<Session>();
  let opening: Promise<Session> | undefined;
  let closed = false;

  const open = async (): Promise<Session> => {
    const socket = await dialEndpoint(options, endpoint, ['h2']);
    const raw = connect(`${endpoint.encrypted ? 'https' : 'http'}://${endpoint.authority}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: limits.clientStreamWindowBytes },
    });
    const session: Session = { raw, streams: 0, promised: 0, leaving: false };
    const leave = (): void => {
      session.leaving = true;
      sessions.delete(session);
    };
    let failure: Error | undefined;
    raw.on('error', (error: Error) => {
      failure = error;
      leave();
    });
    raw.on('close', leave);
    raw.on('goaway', leave);
    raw.on('connect', () => raw.setLocalWindowSize(limits.clientConnectionWindowBytes));
    watchHealth(raw);
    // Until its settings are here, how many streams the server takes is not known.
    await new Promise<void>((resolve, reject) => {
      raw.once('remoteSettings', () => resolve());
      raw.once('close', () => reject(failure ?? new Error('http2: connection closed by the server')));
    });
    if (closed) raw.destroy();
    else sessions.add(session);
    return session;
  };

  const free = (): Session | undefined => {
    for (const session of sessions) {
      const max = session.raw.remoteSettings.maxConcurrentStreams ?? limits.concurrentStreamsMax;
      if (!session.leaving && !session.raw.closed && !session.raw.destroyed && session.streams + session.promised < max)
        return session;
    }
    return undefined;
  };

  /** A session with room, and the room taken. Many may wait for one opening; not all of them fit on it. */
  const pick = async (): Promise<Session> => {
    for (;;) {
      const session = free();
      if (session !== undefined) {
        session.promised++;
        return session;
      }
      opening ??= open().finally(() => {
        opening = undefined;
      });
      await opening;
      if (closed) throw new Error('client is closed');
    }
  };

  const exchange = async (request: ClientRequest, attempts: number): Promise<ClientResponse> => {
    if (closed) throw new Error('client is closed');
    request.signal?.throwIfAborted();
    const session = await pick();
    try {
      session.promised--;
      return await send(session, endpoint, request);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      const notSent =
        error instanceof NotProcessedError || code === 'ERR_HTTP2_GOAWAY_SESSION' || code === 'ERR_HTTP2_INVALID_SESSION';
      if (!notSent || attempts <= 1 || request.body instanceof Readable) throw error;
      session.leaving = true;
      sessions.delete(session);
      return exchange(request, attempts - 1);
    }
  };

  return {
    request: (request) => exchange(request, limits.http2Attempts),
    closeIdle() {
      for (const session of sessions) {
        session.leaving = true;
        sessions.delete(session);
        session.raw.close();
      }
    },
    close() {
      closed = true;
      for (const session of sessions) session.raw.destroy();
    },
  };
}
