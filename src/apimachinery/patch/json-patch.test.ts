import { expect, test } from 'vitest';
import { applyOperations, jsonPatch } from './index.ts';

const document = { a: { b: 'c' }, list: [{ x: 1 }] };

test.each<[object, string]>([
  [{ op: 'add', path: '/z/y', value: 1 }, 'add operation does not apply: doc is missing path: "/z/y": missing value'],
  [{ op: 'add', path: '/list/9/x', value: 1 }, 'add operation does not apply: doc is missing path: "/list/9/x": missing value'],
  [
    { op: 'add', path: '/list/9', value: 1 },
    "error in add for path: '/list/9': Unable to access invalid index: 9: invalid index referenced",
  ],
  [{ op: 'add', value: 1 }, 'add operation failed to decode path: missing value'],
  [{ op: 'remove', path: '/a/z' }, "error in remove for path: '/a/z': Unable to remove nonexistent key: z: missing value"],
  [{ op: 'replace', path: '/z/y', value: 1 }, 'replace operation does not apply: doc is missing path: /z/y: missing value'],
  [{ op: 'replace', path: '/list/4', value: 1 }, 'replace operation does not apply: doc is missing key: /list/4: missing value'],
  [{ op: 'replace', value: 1 }, 'replace operation failed to decode path: operation missing path field: missing value'],
  [{ op: 'move', path: '/b', from: '/z/y' }, 'move operation does not apply: doc is missing from path: /z/y: missing value'],
  [
    { op: 'move', path: '/z/y', from: '/a' },
    'move operation does not apply: doc is missing destination path: /z/y: missing value',
  ],
  [{ op: 'move', path: '/b' }, 'move operation failed to decode from: operation, missing from field: missing value'],
  [
    { op: 'copy', path: '/b', from: '/list/7' },
    "error in copy for from: '/list/7': Unable to access invalid index: 7: invalid index referenced",
  ],
  [{ op: 'test', path: '/z/y', value: 1 }, 'test operation does not apply: is missing path: /z/y: missing value'],
  [{ op: 'zap', path: '/a' }, 'Unexpected kind: zap'],
])('%j', (operation, problem) => {
  expect(applyOperations(document, [operation])).toEqual({ problem, testFailed: false });
});

test('a test that says no is told apart', () => {
  const outcome = applyOperations(document, [{ op: 'test', path: '/a/b', value: 'd' }]);
  expect(outcome).toEqual({ problem: 'testing value /a/b failed: test failed', testFailed: true });
});

test('moves in a long list end before they take long', () => {
  const list = Array.from({ length: 100_000 }, (_, i) => i);
  const moves = Array.from({ length: 10_000 }, () => ({ op: 'move', from: '/0', path: '/50000' }));
  expect(() => jsonPatch(list, moves)).toThrow('Request entity too large');
  expect(jsonPatch(list, moves.slice(0, 100))).toHaveLength(100_000);
});
