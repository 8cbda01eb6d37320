// Requests over few HTTP/2 connections (RFC 9113). A connection that says GOAWAY, is full or stops answering pings is replaced.
import { setMaxListeners } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  constants,
  type IncomingHttpHeaders as Http2Headers,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { pipeGathered } from '../http/gather.ts';
import { endWholeOnly } from '../http/whole-end.ts';
import { limits } from '../limits.ts';
import { dialEndpoint, type Endpoint } from './dial.ts';
import { tooManyInformational } from './informational.ts';
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
  // Any number of exchanges may be called off by one signal.
  if (request.signal) setMaxListeners(0, request.signal);
  return new Promise((resolve, reject) => {
    const stream = session.raw.request(headers, {
      endStream: request.body === undefined,
      ...(request.signal && { signal: request.signal }),
    });
    endWholeOnly(stream, () => new Error('http2: the stream ended before its body'));
    session.streams++;
    let answered = false;
    let failure: Error | undefined;
    stream.once('response', (answer: Http2Headers & IncomingHttpStatusHeader) => {
      answered = true;
      resolve(clientResponse(answer[':status'] ?? 0, answer as IncomingHttpHeaders, stream));
    });
    let informational = 0;
    // A stream that is closed does not stop the frames of its server: the connection has to go.
    stream.on('headers', () => {
      if (++informational > limits.informationalMax) session.raw.destroy(tooManyInformational());
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
    if (request.body instanceof Readable)
      pipeGathered(
        request.body.on('error', (error) => stream.destroy(error)),
        stream,
      );
    else if (request.body !== undefined) stream.end(request.body);
  });
}

export const http2Pool = (options: ClientOptions, endpoint: Endpoint): Http2Pool => new Sessions(options, endpoint);

/** Whether the server has certainly not begun to work on a request that failed so. */
function wasNotSent(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return error instanceof NotProcessedError || code === 'ERR_HTTP2_GOAWAY_SESSION' || code === 'ERR_HTTP2_INVALID_SESSION';
}

class Sessions implements Http2Pool {
  readonly #options: ClientOptions;
  readonly #endpoint: Endpoint;
  readonly #sessions = new Set<Session>();
  #opening: Promise<Session> | undefined;
  #closed = false;

  constructor(options: ClientOptions, endpoint: Endpoint) {
    this.#options = options;
    this.#endpoint = endpoint;
  }

  request(request: ClientRequest): Promise<ClientResponse> {
    return this.#exchange(request, limits.http2Attempts);
  }
  closeIdle(): void {
    for (const session of this.#sessions) {
      this.#leave(session);
      session.raw.close();
    }
  }
  close(): void {
    this.#closed = true;
    for (const session of this.#sessions) session.raw.destroy();
  }

  async #exchange(request: ClientRequest, attempts: number): Promise<ClientResponse> {
    if (this.#closed) throw new Error('client is closed');
    request.signal?.throwIfAborted();
    const session = await this.#pick();
    try {
      session.promised--;
      return await send(session, this.#endpoint, request);
    } catch (error) {
      if (!wasNotSent(error) || attempts <= 1 || request.body instanceof Readable) throw error;
      this.#leave(session);
      return this.#exchange(request, attempts - 1);
    }
  }

  /** A session with room, and the room taken. Many may wait for one opening; not all of them fit on it. */
  async #pick(): Promise<Session> {
    for (;;) {
      const session = this.#free();
      if (session !== undefined) {
        session.promised++;
        return session;
      }
      this.#opening ??= this.#open().finally(() => {
        this.#opening = undefined;
      });
      await this.#opening;
      if (this.#closed) throw new Error('client is closed');
    }
  }
  #free(): Session | undefined {
    for (const session of this.#sessions) {
      const max = session.raw.remoteSettings.maxConcurrentStreams ?? limits.concurrentStreamsMax;
      if (!session.leaving && !session.raw.closed && !session.raw.destroyed && session.streams + session.promised < max)
        return session;
    }
    return undefined;
  }

  async #open(): Promise<Session> {
    const { encrypted, authority } = this.#endpoint;
    const socket = await dialEndpoint(this.#options, this.#endpoint, ['h2']);
    const raw = connect(`${encrypted ? 'https' : 'http'}://${authority}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: limits.clientStreamWindowBytes },
    });
    const session: Session = { raw, streams: 0, promised: 0, leaving: false };
    let failure: Error | undefined;
    raw.on('error', (error: Error) => {
      failure = error;
      this.#leave(session);
    });
    raw.on('close', () => this.#leave(session));
    raw.on('goaway', () => this.#leave(session));
    raw.on('connect', () => raw.setLocalWindowSize(limits.clientConnectionWindowBytes));
    watchHealth(raw);
    // Until its settings are here, how many streams the server takes is not known.
    await new Promise<void>((resolve, reject) => {
      raw.once('remoteSettings', () => resolve());
      raw.once('close', () => reject(failure ?? new Error('http2: connection closed by the server')));
    });
    if (this.#closed) raw.destroy();
    else this.#sessions.add(session);
    return session;
  }
  /** Takes no further requests on a session. */
  #leave(session: Session): void {
    session.leaving = true;
    this.#sessions.delete(session);
  }
}
