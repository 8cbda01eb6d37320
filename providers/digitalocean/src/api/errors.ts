// What the API answers when it refuses, as errors (reference: "HTTP Statuses" and "Rate Limit"). The text is that of the vendor's Go client,
// which people know from the events of Services.
import { retryAfter } from 'sagong/cloud-provider';
import { retryAfterHeaderMs } from 'sagong/cloud-provider/kit';
import { throttledDefaultMs, throttledMaxMs } from '../limits.ts';

/** An answer with a status of 400 or more. */
export class ApiError extends Error {
  readonly status: number;
  /** The API's word for it; empty: somebody else answered, as a proxy in between. */
  readonly id: string;

  constructor(message: string, status: number, id: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.id = id;
  }
}

/** Whether the API says that the thing does not exist. An answer of something in between, which has no ID, does not count. */
export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404 && error.id !== '';

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

/** Whether the answer asks for a later time: a 429, or another one of which it is the server's fault and that has a Retry-After (RFC 9110, 10.2.3). */
const isPatience = (status: number, headers: Headers): boolean =>
  status === 429 || (status >= 500 && headers.get('retry-after') !== null);

/** The error of a failed answer; of one that asks for patience an error that says when to come again. */
export function errorOf({ method, url, status, headers, body }: FailedAnswer, nowMs: number): Error {
  const { id, message, request_id } = bodyOf(body);
  const requestId = typeof request_id === 'string' ? request_id : headers.get('x-request-id');
  const request = requestId ? ` (request ${JSON.stringify(requestId)})` : '';
  const error = new ApiError(
    `${method} ${url}: ${status}${request} ${typeof message === 'string' ? message : ''}`.trim(),
    status,
    typeof id === 'string' ? id : '',
  );
  return isPatience(status, headers) ? retryAfter(error.message, throttledMs(headers, nowMs), error) : error;
}
