// How deep and how long an expression may be, and that it is told so before anything else is done with it. The sentences are upstream's.
import { describe, expect, it } from 'vitest';
import { celTypes, compile, environmentOf, isProgram } from './index.ts';

const environment = environmentOf([['self', celTypes.dyn]]);

function problemOf(source: string): string {
  const compiled = compile(source, environment);
  return isProgram(compiled) ? '' : compiled.problem;
}

const tooDeep = 'compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: 250';
const tooLong = 'compilation failed: ERROR: <input>:-1:0: max recursion depth exceeded';
const many = 20_000;

describe('an expression', () => {
  it.each<[string, string, string]>([
    ['parentheses', '('.repeat(249) + 'true' + ')'.repeat(249), ''],
    ['too many parentheses', '('.repeat(250) + 'true' + ')'.repeat(250), tooDeep],
    ['parentheses without end', '('.repeat(many), tooDeep],
    ['lists', '['.repeat(many), tooDeep],
    ['calls in calls', 'string('.repeat(many / 4), tooDeep],
    ['macros in macros', '[1].all(x, '.repeat(many / 4), tooDeep],
    ['conditions in conditions', `${'true ? true : '.repeat(many / 4)}false`, tooDeep],
    ['sums', `1${' + 1'.repeat(240)} > 0`, ''],
    ['long sums', `1${' + 1'.repeat(many)} > 0`, tooLong],
    ['long products', `1${' * 1'.repeat(many)} > 0`, tooLong],
    ['long comparisons', `1${' == 1'.repeat(300)}`, tooLong],
    ['long paths', `self${'.a'.repeat(many)} == 1`, tooLong],
    ['long indices', `self${'[0]'.repeat(many)} == 1`, tooLong],
    ['chains of calls', `"a"${'.trim()'.repeat(many / 2)} == ""`, tooLong],
    ['long conjunctions', `true${' && true'.repeat(9000)}`, ''],
    ['long disjunctions', `true${' || true'.repeat(9000)}`, ''],
    ['signs', `${'!'.repeat(many)}true`, ''],
    ['wide lists', `[${'1,'.repeat(many)}1].size() > 0`, ''],
  ])('%s', (_, source, problem) => {
    expect(problemOf(source)).toBe(problem);
  });

  it('is no longer than 100,000 characters, however many bytes they are', () => {
    const size = (length: number): string => `expression code point size exceeds limit: size: ${length}, limit 100000`;
    expect(problemOf(`"${'a'.repeat(99_998)}" == ""`)).toContain(size(100_006));
    expect(problemOf(`"${'😀'.repeat(60_000)}" == ""`)).toBe('');
  });

  it('has at most a hundred of its errors told, without lines that are too long to show', () => {
    const undeclared = problemOf(Array.from({ length: 300 }, (_, at) => `x${at}`).join(' && '));
    expect(undeclared.match(/undeclared reference/g)).toHaveLength(100);
    expect(undeclared).toContain('200 more errors were truncated');
    const wide = problemOf(`${'a'.repeat(50_000)} && b`);
    expect(wide.length).toBeLessThan(60_000);
    expect(wide).not.toContain('\n |');
  });
});
