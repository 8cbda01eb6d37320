import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { compileRegexp, regexpProblem, Work, WorkError } from './index.ts';
import { programSize } from './size.ts';

type Row = [pattern: string, error: string] | [pattern: string, matches: number[][]];
interface Vectors {
  texts: string[];
  rows: Row[];
}
const vectors = JSON.parse(readFileSync(new URL('../../test/fixtures/regexp.gen.json', import.meta.url), 'utf8')) as Vectors;

const problemOf = (pattern: string): string => regexpProblem(pattern, new Work(1e9)) ?? '';

it('refuses what Go refuses, in its words', () => {
  expect(vectors.rows.length).toBeGreaterThan(400);
  const problems = vectors.rows.map(([pattern]) => [pattern, problemOf(pattern)]);
  expect(problems).toEqual(vectors.rows.map(([pattern, answer]) => [pattern, typeof answer === 'string' ? answer : '']));
});

it('finds the matches that Go finds', () => {
  const valid = vectors.rows.filter((row): row is [string, number[][]] => typeof row[1] !== 'string');
  const found = valid.map(([pattern]) => {
    const regexp = compileRegexp(pattern, new Work(1e9));
    return [pattern, vectors.texts.map((text) => regexp.ranges(text, Infinity, new Work(1e9)).flat())];
  });
  expect(found).toEqual(valid);
});

it('tells whether there is a match as the search for it does', () => {
  const valid = vectors.rows.filter((row): row is [string, number[][]] => typeof row[1] !== 'string');
  const found = valid.map(([pattern]) => {
    const regexp = compileRegexp(pattern, new Work(1e9));
    return [pattern, vectors.texts.map((text) => regexp.test(text, new Work(1e9)))];
  });
  expect(found).toEqual(valid.map(([pattern, matches]) => [pattern, matches.map((match) => match.length > 0)]));
});

it('reads half of a surrogate pair as Go reads bytes that are no UTF-8', () => {
  expect(compileRegexp('^\\x{FFFD}$').test('\ud800')).toBe(true);
  expect(compileRegexp('^..$').test('😀\udc00')).toBe(true);
});

const million = 'a'.repeat(1_000_000);

it.each([
  ['^(a+)+$', `${million}!`, false],
  ['(a|a)*$', million, true],
  ['(x+x+)+y', 'x'.repeat(100_000), false],
  ['(a?){100}a{100}$', million, true],
  ['^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z]+$', million, false],
  ['(.*)(.*)(.*)(.*)(.*)x', million, false],
])('%s over a long text costs about a unit for each character', (pattern, text, holds) => {
  const work = new Work();
  const { left } = work;
  expect(compileRegexp(pattern).test(text, work)).toBe(holds);
  expect(left - work.left).toBeLessThan(2 * text.length + 500_000);
});

it.each(['a.{900}b$', '(?:a|b)*a(?:a|b){900}$', '\\pL{1000}'])('%s stops when its work is used up', (pattern) => {
  const text = Array.from({ length: 100_000 }, (_, index) => 'ab'[((index * index) % 7) & 1]).join('');
  expect(() => compileRegexp(pattern).test(text)).toThrow(WorkError);
});

it('stops where finding all matches would look at the rest of the text for each of them', () => {
  expect(() => compileRegexp('(?s)a.*b|a').findAll('a'.repeat(100_000))).toThrow(WorkError);
});

it.each([
  'x{1000}x{1000}x{1000}x{1000}x{1000}x{1000}x{1000}x{1000}x{1000}x{1000}x{1000}',
  '(?:x?){1000}(?:x?){1000}(?:x?){1000}(?:x?){1000}',
  '\\pL'.repeat(1000),
  `[${'\\pL'.repeat(1000)}]`,
  'a'.repeat(10_001),
])('refuses a pattern whose program would be too large before it is made', (pattern) => {
  expect(regexpProblem(pattern)).toBe(`error parsing regexp: expression too large: \`${pattern}\``);
});

it('estimates at least half of the instructions that a program has', () => {
  const low = vectors.rows.filter(([pattern, answer]) => {
    if (typeof answer === 'string') return false;
    // The last instructions are the failure and the match.
    return programSize(pattern) * 2 + 4 < compileRegexp(pattern, new Work(1e9)).instructions;
  });
  expect(low).toEqual([]);
});
