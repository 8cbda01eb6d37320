import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DecodeError } from '../schema/index.ts';
import { parseYaml } from './yaml-read.ts';
import { formatYaml } from './yaml-write.ts';

// Text without what YAML cannot carry: lone surrogates, and line breaks of other systems that YAML folds.
const text = fc.oneof(
  fc.string({ maxLength: 120 }),
  fc.string({
    unit: fc.constantFrom('a', ' ', '\n', ':', '#', '-', '"', "'", '\\', '\t', 'é', '😀', '1', '{', ','),
    maxLength: 200,
  }),
);

test('every JSON value survives being written and read', () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value')),
      fc.dictionary(text, tie('value')),
    ),
  })).value;
  fc.assert(
    fc.property(value, (given) => {
      expect(parseYaml(formatYaml(given)).value).toEqual(given);
    }),
    { numRuns: 500 },
  );
});

test.each(['no', 'On', 'y', 'null', '~', '', '1e3', '.5', '0x1f', '017', '1_000', '1:30', '2020-01-01', '-.INF', '<<'])(
  'the text %j is told from what it would mean without quotes',
  (given) => {
    if (given !== '<<') expect(formatYaml({ name: given })).toBe(`name: "${given}"\n`);
    expect(parseYaml(formatYaml({ name: given })).value).toEqual({ name: given });
  },
);

test.each(['123e4567', '9e99999', 'e3', '1.2.3', 'nobody', '1e'])('the text %j needs no quotes', (given) => {
  expect(formatYaml({ [given]: given })).toBe(`${given}: ${given}\n`);
  expect(parseYaml(`${given}: ${given}`).value).toEqual({ [given]: given });
});

test('bad text throws our own error, whatever it is', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom(
          'a',
          ' ',
          '\n',
          ':',
          '#',
          '-',
          '"',
          "'",
          '[',
          '{',
          '}',
          '&',
          '*',
          '!',
          '|',
          '>',
          ',',
          '?',
          '%',
          '@',
          '\t',
        ),
      }),
      (given) => {
        try {
          parseYaml(given);
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('aliases are expanded, but not without end', () => {
  expect(parseYaml('a: &x [1]\nb: *x').value).toEqual({ a: [1], b: [1] });
  const levels = Array.from(
    { length: 9 },
    (_, at) =>
      `l${at}: &l${at} [${Array(10)
        .fill(at === 0 ? 'x' : `*l${at - 1}`)
        .join(', ')}]`,
  );
  expect(() => parseYaml(levels.join('\n'))).toThrow('yaml: document contains excessive aliasing');
});

test('deep nesting is an error, not a crash', () => {
  expect(() => parseYaml('['.repeat(100_000))).toThrow(DecodeError);
  expect(() => parseYaml(`${'['.repeat(2000)}${']'.repeat(2000)}`)).toThrow('exceeded max depth');
});
