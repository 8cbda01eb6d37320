// What refusals of the APIs mean: `{"requestId", "code", "message"}` with a status (https://cloud.baidu.com/doc/Reference/s/Ojwvynvx5).
import {
  answerFailure,
  callErrorOf,
  causesOf,
  type Failure,
  HttpAnswerError,
  httpFailure,
  unlessForeign,
} from 'sagong/cloud-provider/kit';

/** A refusal in the API's own words. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;

  constructor(status: number, code: string, message: string, requestId: string | undefined, cause: unknown) {
    super(`[${status} ${code}] ${message}`, { cause });
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The failure in the API's own words, where it gives some; else the error as it is. */
export function explained(error: unknown): unknown {
  if (!(error instanceof HttpAnswerError)) return error;
  try {
    const { code, message, requestId } = JSON.parse(error.text) as Record<string, unknown>;
    const word = textIn(code);
    if (word !== undefined) return new ApiError(error.status, word, textIn(message) ?? '', textIn(requestId), error);
  } catch {
    // A proxy in between may answer in HTML.
  }
  return error;
}

const throttling = /RateLimit|TooManyRequests|^RequestLimited$|Throttl/i;
const absent = /NotFound$|^NoSuch|NotExist(s|ed)?$/i;
/** The thing is being made, changed or bound, or somebody else was faster. */
const busy = /Status(Error|Exception|Invalid|Incorrect|NotAvailable)$|^(Invalid|Incorrect)\w*Status$|Conflict|InProcess|Busy$/i;

export const codeOf = (error: unknown): string | undefined => {
  for (const one of causesOf(error)) if (one instanceof ApiError) return one.code;
  return undefined;
};

/** A request ID for idempotence was used before with other parameters, which may be a day ago. */
export const isTokenUsed = (error: unknown): boolean => codeOf(error) === 'IdempotentParameterMismatch';
/** What is to be made is there. */
export const isThere = (error: unknown): boolean => /Exist(s|ed)?$|Duplicate|Repeat/i.test(codeOf(error) ?? '');
export const isQuota = (error: unknown): boolean => /Quota|ExceedLimit|LimitExceed/i.test(codeOf(error) ?? '');
/** Whether the API refused, so that nothing was made. */
export const isRefused = (error: unknown): boolean => {
  const status = callErrorOf(error)?.status ?? 0;
  return status >= 400 && status < 500 && status !== 408;
};

export function failureOf(error: unknown, nowMs: number): Failure {
  if (!(error instanceof ApiError)) return unlessForeign(answerFailure(error, nowMs) ?? httpFailure(error), false);
  const { code, requestId, cause } = error;
  const failure = { ...(answerFailure(cause, nowMs) ?? httpFailure(cause)), code, ...(requestId && { requestId }) };
  if (throttling.test(code)) return { ...failure, kind: 'throttled' };
  if (failure.status !== undefined && failure.status >= 500) return failure;
  if (absent.test(code)) return { ...failure, kind: 'absent' };
  return busy.test(code) ? { ...failure, kind: 'conflict' } : failure;
}
