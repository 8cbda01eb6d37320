// A module is one module however a test names it, and is what was built where the run says so (test/support/built-modules.mjs).
import { expect, test } from 'vitest';
import { StoreError } from '#store';
import { unreachable } from '#utils';
import * as errors from '../../../src/store/errors.ts';

test('a class is the same one by the door of its room and by its file', () => {
  expect(errors.StoreError).toBe(StoreError);
});

test('a run of what was built loads nothing else', () => {
  const thrown = (): Error => {
    try {
      return unreachable(undefined as never);
    } catch (error) {
      return error as Error;
    }
  };
  expect(thrown().stack).toContain(process.env.SAGONG_TEST_BUILT === '1' ? '/dist/utils/assert.js' : '/src/utils/assert.ts');
});
