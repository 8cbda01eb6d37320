// What the API answers when it refuses, as errors (reference: "HTTP Statuses" and "Rate Limit"). The text is that of the vendor's Go client,
// which people know from the events of Services.
import { causesOf, type Failure, httpFailure, kindOfStatus, retryAfterHeaderMs, unlessForeign } from 'sagong/cloud-provider/kit';
import { throttledDefaultMs, throttledMaxMs } from '../limits.ts';

/** An answer with a status of 400 or more. */
export class ApiError extends Error {
  readonly status: number;
  /** The API's word for it; empty: somebody else answered, as a proxy in between. */
  readonly id: string;
  /** How long the API wants to be left alone, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, status: number, id: string, retryAfterMs: number | undefined) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.id = id;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface FailedAnswer {
  method: string;
  url: string;
  status: number;
  headers: Headers;
  body: string;
}

interface ErrorBody {
  id?: unknown;
  message?: unknown;
  request_id?: unknown;
}

function bodyOf(text: string): ErrorBody {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    // A proxy in between may answer in HTML.
    return {};
  }
}

/** How long the API wants to be left alone, in milliseconds; undefined: it names no time. */
function wantedMs(headers: Headers, nowMs: number): number | undefined {
  const afterMs = retryAfterHeaderMs(headers.get('retry-after'), nowMs);
  if (afterMs !== undefined) return afterMs;
  const resetSeconds = Number(headers.get('ratelimit-reset') ?? Number.NaN);
  return Number.isFinite(resetSeconds) ? resetSeconds * 1000 - nowMs : undefined;
}

/** How long to wait after a 429, in milliseconds. */
export const throttledMs = (headers: Headers, nowMs: number): number =>
  Math.min(Math.max(wantedMs(headers, nowMs) ?? throttledDefaultMs, 1_000), throttledMaxMs);

/** Of a 429, and of another answer of which it is the server's fault and that has a Retry-After (RFC 9110, 10.2.3). */
function patienceMs({ status, headers }: FailedAnswer, nowMs: number): number | undefined {
  if (status === 429) return throttledMs(headers, nowMs);
  return status >= 500 ? retryAfterHeaderMs(headers.get('retry-after'), nowMs) : undefined;
}

/** The error of a failed answer. */
export function errorOf(answer: FailedAnswer, nowMs: number): ApiError {
  const { method, url, status, headers, body } = answer;
  const { id, message, request_id } = bodyOf(body);
  const requestId = typeof request_id === 'string' ? request_id : headers.get('x-request-id');
  const request = requestId ? ` (request ${JSON.stringify(requestId)})` : '';
  return new ApiError(
    `${method} ${url}: ${status}${request} ${typeof message === 'string' ? message : ''}`.trim(),
    status,
    typeof id === 'string' ? id : '',
    patienceMs(answer, nowMs),
  );
}

/** What a failed request means. Only an answer with an ID says that a thing is gone: one of something in between has none. */
export function failureOf(error: unknown): Failure {
  for (const one of causesOf(error)) {
    if (!(one instanceof ApiError)) continue;
    const { status, id, retryAfterMs } = one;
    const failure = { kind: kindOfStatus(status), status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    return unlessForeign({ ...failure, ...(id !== '' && { code: id }) }, id !== '');
  }
  return httpFailure(error);
}
