import { expect, test } from 'vitest';
import type { ControllerRevision } from '#api/apps/v1';
import { errorText } from '#apimachinery/field';
import { controllerRevision } from './index.ts';

const of = (data: unknown): ControllerRevision => ({ metadata: { name: 'a' }, revision: 1, data }) as ControllerRevision;

test.each([
  [{ a: 1, b: [] }, { a: 1, b: [] }, []],
  [{ b: 1, a: 1 }, { a: 1, b: 1 }, ['data: Invalid value: {"b":1,"a":1}: field is immutable']],
  [{ a: {} }, { a: null }, ['data: Invalid value: {"a":{}}: field is immutable']],
  [undefined, { a: 1 }, ['data: Invalid value: null: field is immutable']],
])('the data %j in place of %j', (data, old, problems) => {
  const errors = controllerRevision.validateUpdate?.(of(data), of(old), { now: 0, subresource: '' }) ?? [];
  expect(errors.map(errorText)).toEqual(problems);
});
