// JSON over HTTP for what no SDK of a vendor covers: metadata services, token endpoints, single calls. Bounded in size; time is the caller's signal.
import { answerBytesMax } from './limits.ts';
import { type Failure, kindOfStatus, retryAfterHeaderMs, unlessForeign } from './failure.ts';

export interface HttpRequest {
  method?: string;
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Text is sent as it is; anything else as JSON. */
  body?: unknown;
  signal?: AbortSignal;
  bytesMax?: number;
}
export interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** The answer as JSON. Throws `SyntaxError` when its text is not JSON. */
  json<T = unknown>(): T;
}

/** An answer with a status of 400 or more. `httpFailure` and `answerFailure` read it. */
export class HttpAnswerError extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;

  constructor(request: { method: string; url: string }, { status, headers, text }: Omit<HttpAnswer, 'json'>) {
    super(`${request.method} ${request.url}: ${status} ${messageIn(text)}`.trimEnd());
    this.name = 'HttpAnswerError';
    this.status = status;
    this.headers = headers;
    this.text = text;
  }
}

/** What a body says of the failure: `message` or `error` of JSON, else its beginning. */
function messageIn(text: string): string {
  try {
    const { message, error } = JSON.parse(text) as { message?: unknown; error?: unknown };
    if (typeof message === 'string') return message;
    if (typeof error === 'string') return error;
    const inner = (error as { message?: unknown } | undefined)?.message;
    if (typeof inner === 'string') return inner;
  } catch {
    // A proxy in between may answer in HTML.
  }
  return text.slice(0, 200);
}

/** The body as text, up to a bound. */
export async function boundedText(response: Response, bytesMax: number = answerBytesMax): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).byteLength;
    if (bytes > bytesMax) throw new Error(`the answer is larger than ${bytesMax} bytes`);
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Sends one request. Rejects with `HttpAnswerError` for a status of 400 or more; follows no redirects. */
export async function sendHttp(request: HttpRequest): Promise<HttpAnswer> {
  const { method = 'GET', url, headers = {}, body, signal, bytesMax } = request;
  const isText = typeof body === 'string';
  const response = await fetch(url, {
    method,
    redirect: 'error',
    headers: { ...(body !== undefined && !isText && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  const answer = { status: response.status, headers: response.headers, text: await boundedText(response, bytesMax) };
  if (answer.status >= 400) throw new HttpAnswerError({ method, url }, answer);
  return { ...answer, json: <T>() => JSON.parse(answer.text) as T };
}

/** Whether a text can be an API's: nothing at all, or JSON. */
function isJsonOrEmpty(text: string): boolean {
  try {
    return text === '' || typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

/** What an `HttpAnswerError` means, its Retry-After included; undefined: it is another error. A page of HTML does not say that a thing is absent. */
export function answerFailure(error: unknown, nowMs: number): Failure | undefined {
  if (!(error instanceof HttpAnswerError)) return undefined;
  const retryAfterMs = retryAfterHeaderMs(error.headers.get('retry-after'), nowMs);
  const kind = kindOfStatus(error.status);
  const failure = { kind, status: error.status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return unlessForeign(failure, isJsonOrEmpty(error.text));
}
