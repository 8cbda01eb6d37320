// What a cloud may answer instead of a result (k8s.io/cloud-provider cloud.go and api/retry_error.go). An error is recognised by its `code`,
// also through a chain of causes, and never by its class: a provider may carry another copy of this package.

export type CloudErrorCode = 'InstanceNotFound' | 'DiskNotFound' | 'ImplementedElsewhere' | 'NotImplemented' | 'Retry';

/** An answer with a meaning for the controllers. Everything else thrown by a provider is a failure that is tried again with back-off. */
export class CloudError extends Error {
  readonly code: CloudErrorCode;
  /** How long the cloud wants to be left alone, in milliseconds; only with the code `Retry`. */
  readonly retryAfterMs?: number;

  constructor(code: CloudErrorCode, message: string, options: { cause?: unknown; retryAfterMs?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CloudError';
    this.code = code;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }
}

/**
 * There is no such instance: for `Instances` (the older interface), where existence is told by this error. A Node that is not ready
 * is deleted at once when its instance is not found; when in doubt throw any other error.
 */
export const instanceNotFound = (): CloudError => new CloudError('InstanceNotFound', 'instance not found');
/** The error by which a provider says that there is no such disk. */
export const diskNotFound = (): CloudError => new CloudError('DiskNotFound', 'disk is not found');
/**
 * Another controller does this for the Service: the service controller stops silently and writes no status, but still adds and removes the
 * clean-up finalizer. Counts only when thrown itself, not as the cause of another error.
 */
export const implementedElsewhere = (): CloudError =>
  new CloudError('ImplementedElsewhere', 'implemented by alternate to cloud provider');
/** The cloud has no such thing; the controllers go on without. */
export const notImplemented = (): CloudError => new CloudError('NotImplemented', 'unimplemented');
/** Try again after exactly `retryAfterMs`, instead of after the controller's own back-off (throttling, a long operation under way). */
export const retryAfter = (message: string, retryAfterMs: number, cause?: unknown): CloudError =>
  new CloudError('Retry', message, { retryAfterMs, cause });

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;

export const isInstanceNotFound = (error: unknown): boolean => codeOf(error) === 'InstanceNotFound';
export const isNotImplemented = (error: unknown): boolean => codeOf(error) === 'NotImplemented';
export const isImplementedElsewhere = (error: unknown): boolean => codeOf(error) === 'ImplementedElsewhere';

/** Causes followed when looking for a retry error. */
const causesMax = 16;

/** The delay asked for by this error or one of its causes, in milliseconds; undefined: none did. */
export function retryAfterOf(error: unknown): number | undefined {
  let current = error;
  for (let depth = 0; depth < causesMax && typeof current === 'object' && current !== null; depth++) {
    if (codeOf(current) === 'Retry' && 'retryAfterMs' in current && typeof current.retryAfterMs === 'number')
      return current.retryAfterMs;
    current = 'cause' in current ? current.cause : undefined;
  }
  return undefined;
}
