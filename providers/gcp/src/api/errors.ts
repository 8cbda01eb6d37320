// What the Compute Engine API answers instead of a result: a status, a reason and a message; of an operation, a code. The reasons decide where the
// status says too little (https://cloud.google.com/compute/docs/troubleshooting/troubleshooting-error-responses, api-rate-limits).
import {
  callErrorOf,
  type Failure,
  type FailureKind,
  HttpAnswerError,
  httpFailure,
  kindOfStatus,
  retryAfterHeaderMs,
  unlessForeign,
} from 'sagong/cloud-provider/kit';
import type { Operation } from './types.ts';

interface ErrorBody {
  error?: { message?: string; errors?: { reason?: string }[] };
}

/** By reason of an answer or code of an operation, without case and separators. */
const kinds: Readonly<Record<string, FailureKind>> = {
  ratelimitexceeded: 'throttled',
  userratelimitexceeded: 'throttled',
  resourceoperationrateexceeded: 'throttled',
  resourcenotready: 'conflict',
  alreadyexists: 'conflict',
  resourcealreadyexists: 'conflict',
  conditionnotmet: 'conflict',
  fingerprintmismatch: 'conflict',
  notfound: 'absent',
  resourcenotfound: 'absent',
  backenderror: 'transient',
  internalerror: 'transient',
};
const inUse = 'resourceinusebyanotherresource';
const plain = (code: string): string => code.toLowerCase().replace(/[^a-z]/g, '');

function reasonIn(text: string): string | undefined {
  try {
    const reason: unknown = (JSON.parse(text) as ErrorBody | null)?.error?.errors?.[0]?.reason;
    return typeof reason === 'string' ? reason : undefined;
  } catch {
    // A proxy in between may answer in HTML.
    return undefined;
  }
}

/** An operation that ended with an error. */
export class OperationError extends Error {
  readonly code: string;
  readonly status: number;

  constructor({ error, httpErrorStatusCode, httpErrorMessage }: Operation) {
    const { code = '', message = httpErrorMessage ?? 'the operation failed' } = error?.errors?.[0] ?? {};
    super(message);
    this.name = 'OperationError';
    this.code = code;
    this.status = httpErrorStatusCode ?? 0;
  }
}

/** What an error of a request or of an operation means. */
export function failureOf(error: unknown, nowMs: number): Failure {
  if (error instanceof OperationError) {
    const { code, status } = error;
    return { kind: kinds[plain(code)] ?? (status >= 400 ? kindOfStatus(status) : 'refused'), code, status };
  }
  if (!(error instanceof HttpAnswerError)) return httpFailure(error);
  const { status } = error;
  const code = reasonIn(error.text);
  const retryAfterMs = retryAfterHeaderMs(error.headers.get('retry-after'), nowMs);
  const failure = {
    kind: kinds[plain(code ?? '')] ?? kindOfStatus(status),
    status,
    ...(code !== undefined && { code }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
  return unlessForeign(failure, code !== undefined);
}

/** Whether something else still uses what was to be deleted. */
export function isInUse(error: unknown): boolean {
  const failed = callErrorOf(error);
  if (!failed) return false;
  return plain(failed.vendorCode ?? '') === inUse || (failed.status === 400 && failed.message.includes('being used by'));
}

/** Whether a right is missing: in a network of another project its administrator changes firewalls. */
export const isForbidden = (error: unknown): boolean => callErrorOf(error)?.status === 403;
