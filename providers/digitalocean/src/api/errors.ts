// What the API answers when it refuses, as errors (reference: "HTTP Statuses" and "Rate Limit"). The text is that of the vendor's Go client,
// which people know from the events of Services.
import { retryAfter } from 'sagong/cloud-provider';
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
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

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

/** How long the API wants to be left alone after a 429, in milliseconds. */
export function throttledMs(headers: Headers, nowMs: number): number {
  const afterSeconds = Number(headers.get('retry-after') ?? Number.NaN);
  const resetSeconds = Number(headers.get('ratelimit-reset') ?? Number.NaN);
  const wantedMs = Number.isFinite(afterSeconds) ? afterSeconds * 1000 : resetSeconds * 1000 - nowMs;
  if (!Number.isFinite(wantedMs)) return throttledDefaultMs;
  return Math.min(Math.max(wantedMs, 1_000), throttledMaxMs);
}

/** The error of a failed answer; of a 429 one that says when to come again. */
export function errorOf({ method, url, status, headers, body }: FailedAnswer, nowMs: number): Error {
  const { id, message, request_id } = bodyOf(body);
  const requestId = typeof request_id === 'string' ? request_id : headers.get('x-request-id');
  const request = requestId ? ` (request ${JSON.stringify(requestId)})` : '';
  const error = new ApiError(
    `${method} ${url}: ${status}${request} ${typeof message === 'string' ? message : ''}`.trim(),
    status,
    typeof id === 'string' ? id : '',
  );
  return status === 429 ? retryAfter(error.message, throttledMs(headers, nowMs), error) : error;
}

/** The error with words in front of its message; the original, with its wish for a later time, is its cause. */
export const wrapped = (words: string, error: unknown): Error => new Error(`${words}: ${messageOf(error)}`, { cause: error });
