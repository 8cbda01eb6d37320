// One function for each failure upstream's apiserver and clients make (k8s.io/apimachinery/pkg/api/errors): code, reason and text in one place.
import { quote } from '#utils';
import { aggregateTexts, errorBody, errorTextCharsMax, type FieldError, fieldErrorsMax } from '../field/index.ts';
import { type StatusCause, type StatusDetails, StatusError } from './status.ts';

/** Which resource an error is about. `resource` is the plural, `group` '' for core. */
export interface ResourceName {
  group: string;
  resource: string;
}

/** Which kind an error is about; `group` '' for core. */
export interface KindName {
  group: string;
  kind: string;
}

const qualified = ({ group, resource }: ResourceName): string => (group === '' ? resource : `${resource}.${group}`);

const details = (
  { group, resource }: ResourceName,
  name: string,
  retryAfterSeconds = 0,
  causes?: StatusCause[],
): StatusDetails => ({
  ...(name && { name }),
  ...(group && { group }),
  ...(resource && { kind: resource }),
  ...(causes && causes.length > 0 && { causes }),
  ...(retryAfterSeconds !== 0 && { retryAfterSeconds }),
});

export const notFound = (resource: ResourceName, name: string): StatusError =>
  new StatusError({
    code: 404,
    reason: 'NotFound',
    message: `${qualified(resource)} ${quote(name)} not found`,
    details: details(resource, name),
  });

export const alreadyExists = (resource: ResourceName, name: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${qualified(resource)} ${quote(name)} already exists`,
    details: details(resource, name),
  });

/** The error where every name that was made from generateName is taken. */
export const generateNameConflict = (resource: ResourceName, name: string, retryAfterSeconds: number): StatusError =>
  new StatusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${qualified(resource)} ${quote(name)} already exists, the server was not able to generate a unique name for the object`,
    details: details(resource, name, retryAfterSeconds),
  });

export const conflict = (resource: ResourceName, name: string, why: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualified(resource)} ${quote(name)}: ${why}`,
    details: details(resource, name),
  });

/** The `why` of a conflict between the resource version sent and the one stored. */
export const modifiedMessage = 'the object has been modified; please apply your changes to the latest version and try again';

/** The error of a server-side apply without force that would take fields from other managers. */
export const applyConflict = (causes: StatusCause[], message: string): StatusError =>
  new StatusError({ code: 409, reason: 'Conflict', message, details: causes.length > 0 ? { causes } : {} });

export const unauthorized = (message = 'not authorized'): StatusError =>
  new StatusError({ code: 401, reason: 'Unauthorized', message });

export const forbidden = (resource: ResourceName, name: string, why: string): StatusError => {
  const about = name === '' ? qualified(resource) : `${qualified(resource)} ${quote(name)}`;
  return new StatusError({
    code: 403,
    reason: 'Forbidden',
    message: resource.resource === '' && resource.group === '' ? `forbidden: ${why}` : `${about} is forbidden: ${why}`,
    details: details(resource, name),
  });
};

/** An object against its kind's rules: 422 with a cause for each failure. */
export const invalidObject = (kind: KindName, name: string, errors: readonly FieldError[]): StatusError => {
  const qualifiedKind = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const head = `${qualifiedKind} ${quote(name)} is invalid`;
  const causes: StatusCause[] = [];
  const texts: string[] = [];
  let chars = 0;
  for (const { type, field, ...rest } of errors.slice(0, fieldErrorsMax)) {
    if (chars > errorTextCharsMax) break;
    const message = errorBody({ type, field, ...rest });
    chars += field.length + message.length;
    causes.push({ reason: type, message, ...(field && { field }) });
    texts.push(`${field}: ${message}`);
  }
  if (causes.length < errors.length) texts.push('more errors are not shown');
  return new StatusError({
    code: 422,
    reason: 'Invalid',
    message: errors.length === 0 ? head : `${head}: ${aggregateTexts(texts)}`,
    details: details({ group: kind.group, resource: kind.kind }, name, 0, causes),
  });
};

export const badRequest = (message: string): StatusError => new StatusError({ code: 400, reason: 'BadRequest', message });

export const methodNotSupported = (resource: ResourceName, action: string): StatusError =>
  new StatusError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: `${action} is not supported on resources of kind ${quote(qualified(resource))}`,
    details: details(resource, ''),
  });

export const notAcceptable = (mediaTypes: readonly string[]): StatusError =>
  new StatusError({
    code: 406,
    reason: 'NotAcceptable',
    message: `only the following media types are accepted: ${mediaTypes.join(', ')}`,
  });

export const unsupportedMediaType = (mediaTypes: readonly string[]): StatusError =>
  new StatusError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: `the body of the request was in an unknown format - accepted media types include: ${mediaTypes.join(', ')}`,
  });

export const gone = (message: string): StatusError => new StatusError({ code: 410, reason: 'Gone', message });

/** A resource version or continue token that the server no longer has. */
export const expired = (message: string): StatusError => new StatusError({ code: 410, reason: 'Expired', message });

/** What an `expired` error says, by its reason. */
export const expiredMessages = {
  resourceVersion: 'The resourceVersion for the provided list is too old.',
  watch: (asked: string | number | bigint, oldest: string | number | bigint): string =>
    `too old resource version: ${asked} (${oldest})`,
  continueToken:
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
  inconsistentContinue:
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
} as const;

export const requestEntityTooLarge = (message: string): StatusError =>
  new StatusError({ code: 413, reason: 'RequestEntityTooLarge', message: `Request entity too large: ${message}` });

/** 429 with a hint; `details` is there even without one, as upstream has it. */
export const tooManyRequests = (message: string, retryAfterSeconds: number): StatusError =>
  new StatusError({
    code: 429,
    reason: 'TooManyRequests',
    message,
    details: retryAfterSeconds === 0 ? {} : { retryAfterSeconds },
  });

export const internalError = (message: string): StatusError =>
  new StatusError({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });

/**
 * What upstream answers with the text of an error of a library and nothing else: 500 without reason or details. It does so also where the client is
 * at fault (a strategic patch with an unknown directive, an applied object that does not fit its type).
 */
export const plainError = (message: string): StatusError => new StatusError({ code: 500, message });

/** The server could not do it now; the client may try again. */
export const serverTimeout = (resource: ResourceName, operation: string, retryAfterSeconds: number): StatusError =>
  new StatusError({
    code: 500,
    reason: 'ServerTimeout',
    message: `The ${operation} operation against ${qualified(resource)} could not be completed at this time, please try again.`,
    details: details(resource, operation, retryAfterSeconds),
  });

export const serviceUnavailable = (message: string): StatusError =>
  new StatusError({ code: 503, reason: 'ServiceUnavailable', message });

/** The request ran out of time; whether it had an effect is unknown. */
export const timeout = (message: string, retryAfterSeconds = 0): StatusError =>
  new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: ${message}`,
    details: retryAfterSeconds === 0 ? {} : { retryAfterSeconds },
  });

/** The resource version asked for lies ahead of the server's. */
export const tooLargeResourceVersion = (
  asked: string | number | bigint,
  current: string | number | bigint,
  retryAfterSeconds = 1,
): StatusError =>
  new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds },
  });
