import { expect, test } from 'vitest';
import { DecodeError } from '../schema/index.ts';
import { parseYaml, readYaml } from './yaml-read.ts';

const repeat = (text: string, times: number): string => text.repeat(times);
const numbered = (times: number, text: (i: number) => string): string =>
  Array.from({ length: times }, (_, i) => text(i)).join('');

/** Each grows to the size of the largest body and past every limit. */
const hostile: Record<string, (size: number) => string> = {
  'open sequences': (size) => repeat('[', size),
  'open mappings': (size) => repeat('{a: ', size / 4),
  'a long sequence': (size) => `[${repeat('a,', size / 2)}]`,
  'empty sequences': (size) => `[${repeat('[],', size / 3)}]`,
  'plain keys': (size) => numbered(size / 10, (i) => `k${i}: 1\n`),
  'equal keys': (size) => repeat('a: 1\n', size / 5),
  anchors: (size) => numbered(size / 14, (i) => `- &a${i} x\n`),
  aliases: (size) => `a: &a [${repeat('x,', 100)}]\n${numbered(size / 10, (i) => `b${i}: *a\n`)}`,
  'aliases of aliases': () => numbered(9, (i) => `l${i}: &l${i} [${repeat(i === 0 ? 'x,' : `*l${i - 1},`, 10)}]\n`),
  'merges of merges': () => numbered(30, (i) => `l${i}: &l${i} {a${i}: 1, <<: [${i === 0 ? '' : `*l${i - 1}, *l${i - 1}`}]}\n`),
  'tags of entries': (size) => repeat('- !!str a\n', size / 10),
  'directives of tags': (size) => `${numbered(size / 20, (i) => `%TAG !a${i}! tag:x\n`)}--- a`,
  documents: (size) => repeat('---\n', size / 4),
  comments: (size) => repeat('#\n', size / 2),
  'nested dashes': (size) => repeat('- ', size / 2),
  'question marks': (size) => repeat('?\n', size / 2),
  'colons in a flow': (size) => `[${repeat(':,', size / 2)}`,
  'lines of a plain scalar': (size) => `a: ${repeat('b\n  ', size / 4)}`,
  'words of a plain scalar': (size) => repeat('a:b ', size / 4),
  'lines of a quoted scalar': (size) => `"${repeat('a\n', size / 2)}"`,
  'escapes of a quoted scalar': (size) => `"${repeat('\\x41', size / 4)}"`,
  'quotes of a quoted scalar': (size) => `'${repeat("''", size / 2)}'`,
  'an open quote on each line': (size) => repeat('a: "\n', size / 5),
  'lines of a block': (size) => `a: |\n${repeat('  b\n', size / 4)}`,
  'empty lines of a block': (size) => `a: |\n${repeat('\n', size)}`,
  'blocks that grow inwards': (size) => numbered(Math.sqrt(2 * size), (i) => `${repeat(' ', i)}a:\n`),
  blanks: (size) => repeat(' ', size),
  'a key without end': (size) => `${repeat('a', size)}: 1`,
};

const cpuMs = (text: string): number => {
  const start = process.cpuUsage();
  try {
    parseYaml(text);
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError);
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
};

test.each(Object.entries(hostile))('%s: 64 times as much text takes nowhere near 4,096 times the work', (_, textOf) => {
  const small = Math.min(...[1, 2, 3].map(() => cpuMs(textOf(40_000))));
  expect(cpuMs(textOf(2_560_000)) / Math.max(small, 1)).toBeLessThan(1000);
});

test.each([
  ['anchors', (at: number) => `- &a${at} 1\n`],
  ['keys', (at: number) => `k${at}: 1\n`],
  ['maps', (at: number) => `- {a: ${at}}\n`],
  ['aliases', (at: number) => (at === 0 ? '- &a [1, 2, 3]\n' : at % 9 === 0 ? '- *a\n' : '- [[1, 2]]\n')],
])('a large text of %s is read in many small steps', (_, line) => {
  const text = numbered(20_000, line);
  const steps = readYaml(text);
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count++;
  expect(step.value).toEqual(parseYaml(text));
  expect(count).toBeGreaterThan(20);
});
