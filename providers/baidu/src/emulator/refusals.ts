// Refusals in the APIs' words (https://cloud.baidu.com/doc/Reference/s/Ojwvynvx5): a request ID, a code, a message.
import { Refusal } from 'sagong/cloud-provider/test-server';

export const noSuch = (kind: string, id: string): Refusal =>
  new Refusal(404, 'NoSuchObject', `The specified object is not found or resource do not exist: ${kind} ${id}.`);
export const invalid = (what: string): Refusal =>
  new Refusal(400, 'BadRequest', `Bad request parameters or illegal request: ${what}.`);
export const inUse = (kind: string, id: string): Refusal =>
  new Refusal(409, 'ResourceStatusError', `${kind} ${id} has another operation under way.`);
export const exists = (what: string): Refusal => new Refusal(409, 'ResourceAlreadyExist', `${what} already exists.`);
export const quota = (what: string): Refusal => new Refusal(413, 'QuotaExceeded', `${what}: the quota is exceeded.`);
export const tokenMismatch = (): Refusal =>
  new Refusal(
    403,
    'IdempotentParameterMismatch',
    'The request uses the same client token as a previous, but non-identical request.',
  );
export const denied = (code: string, message: string, status = 403): Refusal => new Refusal(status, code, message);

const codes: Readonly<Record<number, string>> = {
  409: 'ResourceStatusError',
  429: 'RequestRateLimitExceeded',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

/** The body of the answer that refuses a request. */
export const refusalBody = ({ status, code, message }: Refusal, requestId: string): unknown => ({
  requestId,
  code: code === '' ? (codes[status] ?? 'BadRequest') : code === 'notFound' ? 'NoSuchObject' : code,
  message,
});
