// What two versions of an object have in common.
import { expect, test } from 'vitest';
import { deepCopy, deepEqual, seededRng } from '#utils';
import { deepFreeze } from './freeze.ts';
import { keepUnchanged } from './keep-unchanged.ts';

test('what did not change is the same object, what did has its new value', () => {
  const before = deepFreeze({ metadata: { labels: { a: '1' }, name: 'x' }, spec: { list: [{ a: 1 }, { b: 2 }], gone: {} } });
  const now = { metadata: { labels: { a: '1' }, name: 'y' }, spec: { list: [{ a: 1 }, { b: 3 }] } };
  const expected = deepCopy(now);
  expect(keepUnchanged(now, before)).toBe(false);
  expect(now).toEqual(expected);
  expect(now.metadata.labels).toBe(before.metadata.labels);
  expect(now.spec.list[0]).toBe(before.spec.list[0]);
  expect(now.spec.list[1]).not.toBe(before.spec.list[1]);
});

test('hostile keys are keys, and a frozen part is left alone', () => {
  const before = deepFreeze(JSON.parse('{"a":{"__proto__":{"x":1},"constructor":"c"}}') as object);
  const now = JSON.parse('{"a":{"__proto__":{"x":1},"constructor":"c"},"hasOwnProperty":{}}') as { a: object };
  keepUnchanged(now, before);
  expect(now.a).toBe((before as { a: object }).a);
  expect(Object.keys(now)).toEqual(['a', 'hasOwnProperty']);
  const frozen = deepFreeze({ a: { b: 1 } });
  expect(keepUnchanged(frozen, { a: { b: 1 } })).toBe(true);
});

test('contents never change, and the answer is that of a comparison', () => {
  const rng = seededRng(7);
  const pick = (below: number): number => Math.floor(rng.next() * below);
  const random = (depth: number): unknown => {
    if (depth === 0 || pick(3) === 0) return [0, 1, '', 'x', null, true][pick(6)];
    const parts = Array.from({ length: pick(4) }, () => random(depth - 1));
    return pick(2) === 0 ? parts : Object.fromEntries(parts.map((part) => [`k${pick(3)}`, part]));
  };
  for (let round = 0; round < 2_000; round++) {
    const [before, now] = [deepFreeze(random(4)), random(4)];
    const copy = deepCopy(now);
    expect(keepUnchanged(now, before)).toBe(deepEqual(copy, before));
    expect(now).toEqual(copy);
  }
});
