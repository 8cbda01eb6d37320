// What the router itself answers, before any resource is asked.
import { StatusError } from '#apimachinery/errors';

export const pathNotFound = (): StatusError =>
  new StatusError({ code: 404, reason: 'NotFound', message: 'the server could not find the requested resource', details: {} });

export const methodNotAllowed = (): StatusError =>
  new StatusError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });
