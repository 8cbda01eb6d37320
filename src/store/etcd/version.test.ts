import { expect, test } from 'vitest';
import { hasExactProgress } from './version.ts';

test.each([
  ['3.4.30', false],
  ['3.4.31', true],
  ['3.5.0', false],
  ['3.5.12', false],
  ['3.5.13', true],
  ['3.6.0-rc.4', true],
  ['4.0.0', true],
  ['3.3.27', false],
  ['2.3.8', false],
  ['', false],
  ['newest', false],
])('%s answers progress in its place: %s', (version, exact) => {
  expect(hasExactProgress(version)).toBe(exact);
});
