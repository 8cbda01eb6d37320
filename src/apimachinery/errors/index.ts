// API failures as `metav1.Status` (k8s.io/apimachinery/pkg/api/errors): reasons, codes and message forms are upstream's.
// Every room throws `StatusError` for an operating error that a client of the API may see; nothing else crosses the API.

export type StatusReason =
  | ''
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'ServerTimeout'
  | 'StoreReadError'
  | 'Timeout'
  | 'TooManyRequests'
  | 'BadRequest'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'Expired'
  | 'ServiceUnavailable';

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, unknown>;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: StatusReason;
  details?: StatusDetails;
  code?: number;
}

/** Thrown for every failure that a client of the API may see. `status.code` is the HTTP status. */
export class StatusError extends Error {
  readonly status: Status;
  constructor(status: Omit<Status, 'kind' | 'apiVersion' | 'metadata' | 'status'>) {
    super(status.message ?? status.reason ?? 'unknown error');
    this.name = 'StatusError';
    this.status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...status };
  }
}

/** Which resource an error is about. `resource` is the plural, `group` '' for core. */
export interface ResourceName {
  group: string;
  resource: string;
}

const qualified = ({ group, resource }: ResourceName): string => (group === '' ? resource : `${resource}.${group}`);
const details = (resource: ResourceName, name: string): StatusDetails => ({
  ...(name && { name }),
  ...(resource.group && { group: resource.group }),
  ...(resource.resource && { kind: resource.resource }),
});

export const notFound = (resource: ResourceName, name: string): StatusError =>
  new StatusError({ code: 404, reason: 'NotFound', message: `${qualified(resource)} "${name}" not found`, details: details(resource, name) });

export const alreadyExists = (resource: ResourceName, name: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${qualified(resource)} "${name}" already exists`,
    details: details(resource, name),
  });

export const conflict = (resource: ResourceName, name: string, why: string): StatusError =>
  new StatusError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`,
    details: details(resource, name),
  });

export const forbidden = (resource: ResourceName, name: string, why: string): StatusError =>
  new StatusError({
    code: 403,
    reason: 'Forbidden',
    message: resource.resource === '' ? `forbidden: ${why}` : name === '' ? `${qualified(resource)} is forbidden: ${why}` : `${qualified(resource)} "${name}" is forbidden: ${why}`,
    details: details(resource, name),
  });

export const badRequest = (message: string): StatusError => new StatusError({ code: 400, reason: 'BadRequest', message });

export const internalError = (message: string): StatusError =>
  new StatusError({ code: 500, reason: 'InternalError', message: `Internal error occurred: ${message}`, details: { causes: [{ message }] } });

export const isReason = (error: unknown, reason: StatusReason): error is StatusError =>
  error instanceof StatusError && error.status.reason === reason;
export const isNotFound = (error: unknown): error is StatusError => isReason(error, 'NotFound');
export const isConflict = (error: unknown): error is StatusError => isReason(error, 'Conflict');
export const isAlreadyExists = (error: unknown): error is StatusError => isReason(error, 'AlreadyExists');
