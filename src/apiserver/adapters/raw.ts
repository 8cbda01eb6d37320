// The way in for components of this process that ask for a path as a client over a connection would (discovery, health, OpenAPI): an exchange
// without a connection, served for an identity that is known.
import { Readable } from '../platform/streams.ts';
import type { ResponseHeaders, WireRequest, WireResponse } from '#wire';
import type { Next } from '../chain/link.ts';
import { NoAnswerError } from '../request/cancellation.ts';
import type { UserInfo } from '../request/request.ts';
import type { AnswerContext } from '../endpoints/answer-context.ts';
import { wireIncoming } from './wire.ts';

interface RawCall {
  method: string;
  path: string;
  body: unknown;
  signal: AbortSignal | undefined;
}

export async function serveRaw(
  { context, serve }: { context: AnswerContext; serve: Next },
  component: UserInfo,
  { method, path, body, signal }: RawCall,
): Promise<{ status: number; text: string }> {
  const { response, done } = memoryResponse();
  const request = memoryRequest(method, path, body, signal);
  const outcome = await serve(wireIncoming(context, { request, response, component }));
  if (outcome.is === 'failed' && outcome.cause instanceof NoAnswerError) throw outcome.cause;
  return done;
}

function memoryRequest(method: string, path: string, body: unknown, signal: AbortSignal | undefined): WireRequest {
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return {
    method,
    path,
    headers: { accept: 'application/json', ...(bytes.length > 0 && { 'content-type': 'application/json' }) },
    rawHeaders: [],
    httpVersion: '1.1',
    encrypted: true,
    peerCertificate: undefined,
    remoteAddress: '127.0.0.1',
    remotePort: 0,
    localAddress: '127.0.0.1',
    get body() {
      return Readable.from([bytes]);
    },
    readBody: () => Promise.resolve(bytes),
    signal: signal ?? new AbortController().signal,
    onClose() {},
    servedFor() {},
  };
}

/** Collects the answer; `done` resolves when it has ended. */
function memoryResponse(): { response: WireResponse; done: Promise<{ status: number; text: string }> } {
  const chunks: Buffer[] = [];
  let status = 0;
  let over = false;
  let finish: (answer: { status: number; text: string }) => void = () => {};
  const done = new Promise<{ status: number; text: string }>((resolve) => {
    finish = resolve;
  });
  const keep = (chunk: Uint8Array | string | undefined): void => {
    if (chunk !== undefined) chunks.push(Buffer.from(chunk as Uint8Array));
  };
  const end = (chunk?: Uint8Array | string): void => {
    if (over) return;
    keep(chunk);
    over = true;
    finish({ status, text: Buffer.concat(chunks).toString() });
  };
  const head = (code: number, _headers?: ResponseHeaders): void => {
    status = code;
  };
  const response: WireResponse = {
    head,
    flushHead() {},
    write(chunk) {
      keep(chunk);
      return !over;
    },
    drain: () => Promise.resolve(),
    end,
    send(code, headers, body) {
      head(code, headers);
      end(body);
    },
    destroy: () => end(),
    get headSent() {
      return status !== 0;
    },
    get status() {
      return status;
    },
    get destroyed() {
      return over;
    },
  };
  return { response, done };
}
