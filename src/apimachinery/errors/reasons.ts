// Questions about a failure (k8s.io/apimachinery/pkg/api/errors, Is...). An answer whose reason is unknown is judged by its code.
import { StatusError, type StatusReason } from './status.ts';

const codes = {
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  Conflict: 409,
  Gone: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  BadRequest: 400,
  InternalError: 500,
  ServiceUnavailable: 503,
} satisfies Partial<Record<StatusReason, number>>;

const codeOf: Partial<Record<StatusReason, number>> = codes;
const knownReasons = new Set<string>([
  ...Object.keys(codes),
  'AlreadyExists',
  'Expired',
  'ServerTimeout',
  'Timeout',
  'StoreReadError',
]);

export function isReason(error: unknown, reason: StatusReason): error is StatusError {
  if (!(error instanceof StatusError)) return false;
  const own = error.status.reason ?? '';
  if (own === reason) return true;
  return !knownReasons.has(own) && codeOf[reason] !== undefined && codeOf[reason] === error.status.code;
}

export const isNotFound = (error: unknown): error is StatusError => isReason(error, 'NotFound');
export const isAlreadyExists = (error: unknown): error is StatusError => isReason(error, 'AlreadyExists');
export const isConflict = (error: unknown): error is StatusError => isReason(error, 'Conflict');
export const isInvalid = (error: unknown): error is StatusError => isReason(error, 'Invalid');
export const isGone = (error: unknown): error is StatusError => isReason(error, 'Gone');
export const isExpired = (error: unknown): error is StatusError => isReason(error, 'Expired');
export const isBadRequest = (error: unknown): error is StatusError => isReason(error, 'BadRequest');
export const isUnauthorized = (error: unknown): error is StatusError => isReason(error, 'Unauthorized');
export const isForbidden = (error: unknown): error is StatusError => isReason(error, 'Forbidden');
export const isTimeout = (error: unknown): error is StatusError => isReason(error, 'Timeout');
export const isServerTimeout = (error: unknown): error is StatusError => isReason(error, 'ServerTimeout');
export const isTooManyRequests = (error: unknown): error is StatusError => isReason(error, 'TooManyRequests');
export const isServiceUnavailable = (error: unknown): error is StatusError => isReason(error, 'ServiceUnavailable');
export const isInternalError = (error: unknown): error is StatusError => isReason(error, 'InternalError');

/** The failure carries a cause of this reason (e.g. `NamespaceTerminating`, `ResourceVersionTooLarge`, `DisruptionBudget`). */
export const hasCause = (error: unknown, reason: string): error is StatusError =>
  error instanceof StatusError && (error.status.details?.causes?.some((cause) => cause.reason === reason) ?? false);

/** Seconds the server asks to wait before the next try, or undefined when it does not ask. */
export function suggestedDelaySeconds(error: unknown): number | undefined {
  if (!(error instanceof StatusError) || error.status.details === undefined) return undefined;
  const seconds = error.status.details.retryAfterSeconds ?? 0;
  return seconds > 0 || error.status.reason === 'ServerTimeout' ? seconds : undefined;
}
