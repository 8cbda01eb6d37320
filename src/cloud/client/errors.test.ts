import { expect, it } from 'vitest';
import { answeredError, isNotFound } from './errors.ts';

it('takes nothing for gone that this API has not said itself', () => {
  const own = JSON.stringify({ error: { code: 'InstanceNotFound', message: 'there is none', requestId: 'req-1' } });
  expect(isNotFound(answeredError('getInstance', 404, undefined, own))).toBe(true);
  expect(isNotFound(answeredError('getInstance', 404, undefined, '<h1>Not Found</h1>'))).toBe(false);
});
