// What a call to the cloud's API rejects with.
import { errorBody } from '../api/index.ts';
import { retryAfterMsMax } from './limits.ts';

export interface CloudApiErrorFields {
  /** The code as the API names it; `Unreachable` when no answer came, `BadAnswer` for an answer that this API does not give. */
  code: string;
  /** 0 when no answer came. */
  status: number;
  requestId?: string | undefined;
  field?: string | undefined;
  /** How long the API wants to be left alone, in milliseconds. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

export class CloudApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly field: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, fields: CloudApiErrorFields) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = 'CloudApiError';
    this.code = fields.code;
    this.status = fields.status;
    this.requestId = fields.requestId;
    this.field = fields.field;
    this.retryAfterMs = fields.retryAfterMs;
  }
}

/** Whether the resource asked for, or one that the request names, is not there. The 404 of a proxy in between proves nothing. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof CloudApiError && error.status === 404 && error.code !== 'BadAnswer';

/** `Retry-After` in seconds (RFC 9110 section 10.2.3); its date form is not used by this API. */
const retryAfterOf = (header: string | undefined): number | undefined =>
  header !== undefined && /^\d+$/.test(header) ? Math.min(Number(header) * 1000, retryAfterMsMax) : undefined;

/** The error that an answer of the API tells of. */
export function answeredError(operation: string, status: number, retryAfter: string | undefined, text: string): CloudApiError {
  const retryAfterMs = retryAfterOf(retryAfter);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const parsed = errorBody.safeParse(body);
  if (!parsed.success)
    return new CloudApiError(`${operation}: status ${status}: ${text.slice(0, 200)}`, {
      code: 'BadAnswer',
      status,
      retryAfterMs,
    });
  const { code, message, requestId, field } = parsed.data.error;
  const about = field === undefined ? '' : ` (${field})`;
  return new CloudApiError(`${operation}: ${code}${about}: ${message}`, { code, status, requestId, field, retryAfterMs });
}
