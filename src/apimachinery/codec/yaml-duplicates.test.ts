import { expect, test } from 'vitest';
import { parseYaml } from './yaml-read.ts';

test.each([
  ['data:\n  a: b\n  a: c\n', 'line 3: key "a" already set in map'],
  ['data:\n  a: b\ndata:\n  c: d\n', 'line 4: key "data" already set in map'],
])('a key set twice is told by the line of its value', (text, problem) => {
  expect(parseYaml(text).duplicateKeys).toBe(`yaml: unmarshal errors:\n  ${problem}`);
});
