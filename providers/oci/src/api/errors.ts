// What OCI's services answer instead of a result: a status and a code (https://docs.oracle.com/iaas/Content/API/References/apierrors.htm). The code
// decides where the status says too little.
import {
  callErrorOf,
  type Failure,
  type FailureKind,
  httpFailure,
  kindOfStatus,
  retryAfterHeaderMs,
  unlessForeign,
} from 'sagong/cloud-provider/kit';

export interface AnswerParts {
  status: number;
  code: string;
  message: string;
  requestId?: string | undefined;
  retryAfter?: string | undefined;
}

/** An answer with a status of 400 or more. */
export class OciAnswerError extends Error {
  readonly status: number;
  readonly serviceCode: string;
  readonly requestId: string | undefined;
  readonly retryAfter: string | undefined;

  constructor({ status, code, message, requestId, retryAfter }: AnswerParts) {
    super(`${status} ${code}: ${message}`);
    this.name = 'OciAnswerError';
    this.status = status;
    this.serviceCode = code;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

const kinds: Readonly<Record<string, FailureKind>> = {
  TooManyRequests: 'throttled',
  IncorrectState: 'conflict',
  NoEtagMatch: 'conflict',
  Conflict: 'conflict',
  ExternalServerIncorrectState: 'conflict',
  NotAuthorizedOrResourceAlreadyExists: 'conflict',
  InvalidatedRetryToken: 'refused',
  NotAuthorizedOrNotFound: 'absent',
  QuotaExceeded: 'refused',
  LimitExceeded: 'refused',
  OutOfHostCapacity: 'refused',
};

export function failureOf(error: unknown, nowMs: number): Failure {
  if (!(error instanceof OciAnswerError)) return httpFailure(error);
  const { status, serviceCode: code, requestId, retryAfter } = error;
  const retryAfterMs = retryAfterHeaderMs(retryAfter, nowMs);
  const failure = {
    kind: kinds[code] ?? kindOfStatus(status),
    status,
    code,
    ...(requestId !== undefined && { requestId }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
  return unlessForeign(failure, code !== '');
}

/** Under this retry token something was made that is gone since. */
export const isTokenUsedUp = (error: unknown): boolean => callErrorOf(error)?.vendorCode === 'InvalidatedRetryToken';

/** Something that a request names is not there, as the instance of a backend that has gone. */
export const isUnknownTarget = (error: unknown): boolean =>
  callErrorOf(error)?.vendorCode === 'RelatedResourceNotAuthorizedOrNotFound';

/** A work request that ended without having done its work. */
export class WorkRequestError extends Error {
  constructor(type: string, id: string, reasons: readonly string[]) {
    super(`work request ${type} failed: ${reasons.join('; ') || 'no reason is given'} (${id})`);
    this.name = 'WorkRequestError';
  }
}
