// Refusals in the words of the API (https://docs.oracle.com/iaas/Content/API/References/apierrors.htm).
import { Refusal } from 'sagong/cloud-provider/test-server';

export const notAuthenticated = (why: string): Refusal =>
  new Refusal(
    401,
    'NotAuthenticated',
    `The required information to complete authentication was not provided or was incorrect: ${why}`,
  );
export const notFound = (what: string): Refusal =>
  new Refusal(404, 'NotAuthorizedOrNotFound', `Authorization failed or requested resource not found: ${what}`);
export const invalid = (message: string): Refusal => new Refusal(400, 'InvalidParameter', message);
export const related = (what: string): Refusal =>
  new Refusal(400, 'RelatedResourceNotAuthorizedOrNotFound', `${what} is not authorized or not found`);
export const incorrectState = (message: string): Refusal => new Refusal(409, 'IncorrectState', message);
export const alreadyExists = (what: string): Refusal =>
  new Refusal(409, 'NotAuthorizedOrResourceAlreadyExists', `${what} already exists`);
export const noEtagMatch = (): Refusal => new Refusal(412, 'NoEtagMatch', 'ETag value does not match');
export const tokenInvalidated = (): Refusal =>
  new Refusal(409, 'InvalidatedRetryToken', 'The retry token was used in an earlier request whose resource has been deleted');

const codes: Readonly<Record<number, string>> = { 429: 'TooManyRequests', 409: 'IncorrectState', 503: 'ServiceUnavailable' };

export const refusalBody = ({ status, code, message }: Refusal): object => ({
  code: code || (codes[status] ?? (status >= 500 ? 'InternalServerError' : 'InvalidParameter')),
  message,
});
