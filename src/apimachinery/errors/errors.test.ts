import { describe, expect, it } from 'vitest';
import { invalid, required, root } from '../field/index.ts';
import * as errors from './index.ts';

const pods = { group: '', resource: 'pods' };
const sets = { group: 'apps', resource: 'replicasets' };

describe('messages', () => {
  it.each([
    [errors.notFound(sets, 'a'), 404, 'NotFound', 'replicasets.apps "a" not found'],
    [errors.alreadyExists(pods, 'a'), 409, 'AlreadyExists', 'pods "a" already exists'],
    [
      errors.conflict(pods, 'a', errors.modifiedMessage),
      409,
      'Conflict',
      `Operation cannot be fulfilled on pods "a": ${errors.modifiedMessage}`,
    ],
    [errors.forbidden(pods, '', 'no'), 403, 'Forbidden', 'pods is forbidden: no'],
    [errors.forbidden({ group: '', resource: '' }, '', 'no'), 403, 'Forbidden', 'forbidden: no'],
    [errors.unauthorized('Unauthorized'), 401, 'Unauthorized', 'Unauthorized'],
    [
      errors.methodNotSupported(sets, 'delete'),
      405,
      'MethodNotAllowed',
      'delete is not supported on resources of kind "replicasets.apps"',
    ],
    [errors.notAcceptable(['a/b', 'c/d']), 406, 'NotAcceptable', 'only the following media types are accepted: a/b, c/d'],
    [
      errors.requestEntityTooLarge('limit is 3145728'),
      413,
      'RequestEntityTooLarge',
      'Request entity too large: limit is 3145728',
    ],
    [errors.timeout('late', 1), 504, 'Timeout', 'Timeout: late'],
    [errors.internalError('x'), 500, 'InternalError', 'Internal error occurred: x'],
    [errors.plainError('x'), 500, undefined, 'x'],
  ])('%s', (error, code, reason, message) => {
    expect(error.status).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message });
    expect(error.status.reason).toBe(reason);
    expect(error.message).toBe(message);
  });
});

it('lists every failure of an invalid object as a cause, and each text once', () => {
  const path = root('spec', 'a');
  const error = errors.invalidObject({ group: 'apps', kind: 'Deployment' }, 'x', [
    required(path),
    required(path),
    invalid(path, 1, 'no'),
  ]);
  expect(error.status.message).toBe('Deployment.apps "x" is invalid: [spec.a: Required value, spec.a: Invalid value: 1: no]');
  expect(error.status.details).toEqual({
    name: 'x',
    group: 'apps',
    kind: 'Deployment',
    causes: [
      { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.a' },
      { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.a' },
      { reason: 'FieldValueInvalid', message: 'Invalid value: 1: no', field: 'spec.a' },
    ],
  });
});

it('judges an unknown reason by its code', () => {
  expect(errors.isNotFound(new errors.StatusError({ code: 404 }))).toBe(true);
  expect(errors.isConflict(errors.alreadyExists(pods, 'a'))).toBe(false);
  expect(errors.isNotFound(new Error('x'))).toBe(false);
});

it('reads the hint to wait', () => {
  expect(errors.suggestedDelaySeconds(errors.tooManyRequests('busy', 7))).toBe(7);
  expect(errors.suggestedDelaySeconds(errors.serverTimeout(pods, 'get', 0))).toBe(0);
  expect(errors.suggestedDelaySeconds(errors.notFound(pods, 'a'))).toBeUndefined();
});

it('makes a Status of an answer without one', () => {
  const answer = errors.genericServerResponse({
    code: 503,
    method: 'GET',
    resource: sets,
    name: 'a',
    text: 'x',
    unexpected: true,
  });
  expect(answer.status.message).toBe('the server is currently unable to handle the request (get replicasets.apps a)');
  expect(answer.status.details?.causes).toEqual([{ reason: 'UnexpectedServerResponse', message: 'x' }]);
});
