// Refusals in the API's words (https://cloud.google.com/compute/docs/troubleshooting/troubleshooting-error-responses).
import { Refusal } from 'sagong/cloud-provider/test-server';

export const notFound = (path: string): Refusal => new Refusal(404, 'notFound', `The resource '${path}' was not found`);
export const alreadyExists = (path: string): Refusal =>
  new Refusal(409, 'alreadyExists', `The resource '${path}' already exists`);
export const notReady = (path: string): Refusal => new Refusal(400, 'resourceNotReady', `The resource '${path}' is not ready`);
export const inUse = (path: string, by: string): Refusal =>
  new Refusal(400, 'resourceInUseByAnotherResource', `The resource '${path}' is already being used by '${by}'`);
export const invalid = (field: string, value: unknown, why = 'is invalid'): Refusal =>
  new Refusal(400, 'invalid', `Invalid value for field '${field}': '${String(value)}'. It ${why}.`);
export const conditionNotMet = (): Refusal =>
  new Refusal(412, 'conditionNotMet', 'Invalid fingerprint. The resource was changed since it was read.');

const words: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ALREADY_EXISTS',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};
const reasons: Readonly<Record<number, string>> = {
  400: 'invalid',
  401: 'authError',
  403: 'forbidden',
  404: 'notFound',
  409: 'conflict',
  429: 'rateLimitExceeded',
  503: 'backendError',
};

/** The body of the answer that refuses a request. */
export const refusalBody = ({ status, code, message }: Refusal): unknown => ({
  error: {
    code: status,
    message,
    errors: [{ message, domain: 'global', reason: code || (reasons[status] ?? 'internalError') }],
    ...(words[status] && { status: words[status] }),
  },
});
