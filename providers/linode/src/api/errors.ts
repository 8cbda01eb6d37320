// What the API's refusals mean: `{"errors": [{"reason", "field"}]}` with a status (https://techdocs.akamai.com/linode-api/reference/errors).
import {
  answerFailure,
  callErrorOf,
  causesOf,
  type Failure,
  HttpAnswerError,
  httpFailure,
  unlessForeign,
} from 'sagong/cloud-provider/kit';

export interface Reason {
  reason: string;
  field?: string;
}

/** A refusal in the API's own words. */
export class ApiError extends Error {
  readonly status: number;
  readonly reasons: readonly Reason[];

  constructor(status: number, reasons: readonly Reason[], cause: unknown) {
    super(`[${status}] ${reasons.map(({ reason, field }) => (field ? `[${field}] ${reason}` : reason)).join('; ')}`, { cause });
    this.name = 'ApiError';
    this.status = status;
    this.reasons = reasons;
  }
}

function reasonsIn(text: string): Reason[] {
  try {
    const { errors } = JSON.parse(text) as { errors?: unknown };
    if (Array.isArray(errors)) return (errors as (Reason | null)[]).filter((one) => typeof one?.reason === 'string') as Reason[];
  } catch {
    // A proxy in between may answer in HTML.
  }
  return [];
}

/** The failure with the API's reasons in its message, where it gives some; else the error as it is. */
export function explained(error: unknown): unknown {
  if (!(error instanceof HttpAnswerError)) return error;
  const reasons = reasonsIn(error.text);
  return reasons.length > 0 ? new ApiError(error.status, reasons, error) : error;
}

const reasonsOf = (error: unknown): readonly Reason[] => {
  for (const one of causesOf(error)) if (one instanceof ApiError) return one.reasons;
  return [];
};
const saysOf = (error: unknown, pattern: RegExp): boolean => reasonsOf(error).some(({ reason }) => pattern.test(reason));

/** A Linode with a job under way refuses others until it is done: nothing happened, and the next try may go well. */
export const isBusy = (error: unknown): boolean => saysOf(error, /\bbusy\b/i);

/** A label that is to be unique in the account is taken. */
export const isLabelTaken = (error: unknown): boolean =>
  callErrorOf(error)?.status === 400 && saysOf(error, /\b(must be|is not|already) (unique|in use|taken|exists)\b/i);

/** An address of a backend is refused: its Linode may have gone between two calls. */
export const isAddressRefused = (error: unknown): boolean =>
  callErrorOf(error)?.status === 400 && reasonsOf(error).some(({ field }) => /address$/.test(field ?? ''));

/** Whether the API refused, so that nothing was made. */
export const isRefused = (error: unknown): boolean => {
  const status = callErrorOf(error)?.status ?? 0;
  return status >= 400 && status < 500 && status !== 408;
};

export function failureOf(error: unknown, nowMs: number): Failure {
  const cause = error instanceof ApiError ? error.cause : error;
  const failure = unlessForeign(answerFailure(cause, nowMs) ?? httpFailure(cause), error instanceof ApiError);
  return failure.status === 400 && isBusy(error) ? { ...failure, kind: 'transient' } : failure;
}
