// The index against a sorted array, with enough keys to split and drop chunks; and the key order it relies on.
import { expect, test } from 'vitest';
import { seededRng } from '#utils';
import { keyMatcher, orderOf, prefixEnd } from '../keys.ts';
import { SortedIndex } from './sorted-index.ts';

interface Item {
  key: string;
  order: string;
  live: boolean;
}

test('walks, counts and look-ups equal a sorted array after many inserts and deletes', () => {
  const rng = seededRng(7);
  const index = new SortedIndex<Item>((item) => item.live);
  const model = new Map<string, Item>();
  for (let i = 0; i < 30_000; i++) {
    const key = `/registry/pods/${rng.int(8000).toString(36)}`;
    const found = model.get(key);
    if (!found) {
      const item = { key, order: orderOf(key), live: rng.int(2) === 0 };
      model.set(key, item);
      index.insert(item);
    } else if (rng.int(3) === 0) {
      model.delete(key);
      index.delete(found);
    } else {
      found.live = !found.live;
      index.adjust(found, found.live ? 1 : -1);
    }
  }
  const sorted = [...model.values()].sort((a, b) => (a.order < b.order ? -1 : 1));
  expect(index.size).toBe(sorted.length);
  for (let i = 0; i < 200; i++) {
    const [start, end] = [rng.int(8000), rng.int(8000)].map((n) => `/registry/pods/${n.toString(36)}`) as [string, string];
    const range = { start, end: i % 10 === 0 ? undefined : end };
    const expected = sorted.filter((item) => item.order >= start && (range.end === undefined || item.order < range.end));
    const walked: Item[] = [];
    index.walk(range, (item) => walked.push(item) > 0);
    expect(walked).toEqual(expected);
    expect(index.liveCount(range)).toBe(expected.filter((item) => item.live).length);
  }
  expect(sorted.every((item) => index.get(item.key) === item)).toBe(true);
});

test('order form sorts as UTF-8 bytes do', () => {
  const keys = [
    '',
    '\0',
    'a',
    'z',
    '\x7f',
    '\x80',
    'é',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '\u{10000}',
    '\u{1f600}',
    '\u{10ffff}',
    'a\u{1f600}',
  ];
  const byBytes = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const byOrder = [...keys].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : orderOf(a) > orderOf(b) ? 1 : 0));
  expect(byOrder).toEqual(byBytes);
});

test.each([
  ['/registry/pods/', '/registry/pods0'],
  ['a', 'b'],
  ['a\u{10ffff}', 'b'],
  ['a\ud7ff', 'a\ue000'],
  ['\u{10ffff}', '\0'],
  ['', '\0'],
])('the end of prefix %j is %j', (prefix, end) => {
  expect(prefixEnd(prefix)).toBe(end);
});

test.each([
  ['/a', undefined, { '/a': true, '/a/b': false }],
  ['/a', '', { '/a': true, '/b': false }],
  ['/a', '/c', { '/a': true, '/b': true, '/c': false, '/': false }],
  ['/b', '\0', { '/a': false, '/b': true, '\u{10ffff}': true }],
  ['\0', '\0', { '/a': true, '\0': true }],
])('key %j and rangeEnd %j match', (key, rangeEnd, expected) => {
  const matches = keyMatcher(key, rangeEnd);
  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, matches(name, orderOf(name))]))).toEqual(expected);
});
