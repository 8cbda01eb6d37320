// API failures as `metav1.Status` (k8s.io/apimachinery/pkg/api/errors).
export type { Status, StatusCause, StatusDetails, StatusReason } from './status.ts';
export { StatusError } from './status.ts';
export type { KindName, ResourceName } from './constructors.ts';
export {
  alreadyExists,
  applyConflict,
  badRequest,
  conflict,
  expired,
  expiredMessages,
  forbidden,
  generateNameConflict,
  gone,
  internalError,
  invalidObject,
  methodNotSupported,
  modifiedMessage,
  notAcceptable,
  notFound,
  plainError,
  requestEntityTooLarge,
  serverTimeout,
  serviceUnavailable,
  timeout,
  tooLargeResourceVersion,
  tooManyRequests,
  unauthorized,
  unsupportedMediaType,
} from './constructors.ts';
export type { PlainResponse } from './response.ts';
export { genericServerResponse, unstructuredText } from './response.ts';
export {
  hasCause,
  isAlreadyExists,
  isBadRequest,
  isConflict,
  isExpired,
  isForbidden,
  isGone,
  isInternalError,
  isInvalid,
  isNotFound,
  isReason,
  isServerTimeout,
  isServiceUnavailable,
  isTimeout,
  isTooManyRequests,
  isUnauthorized,
  suggestedDelaySeconds,
} from './reasons.ts';
