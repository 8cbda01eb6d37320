import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finish, type Steps } from '#utils';
import { DecodeError, TooLargeError } from './context.ts';
import { readingJson, writingJson } from './json-steps.ts';
import { jsonStepChars } from './limits.ts';

/** What the work made, and in how many steps. */
function counted<T>(steps: Steps<T>): { value: T; count: number } {
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done === true) return { value: step.value, count };
  }
}

const times = <T>(count: number, each: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => each(at));
const outcome = (read: () => unknown): unknown => {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof DecodeError) && !(error instanceof SyntaxError)) throw error;
    return 'an error';
  }
};

describe('reading in steps', () => {
  test.each([1, 7, 40])('with %i characters a step any text gives what JSON.parse gives', (stepChars) => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('', ' \n'), (text, blank) => {
        const spaced = blank + text.replaceAll(/[[\]{},:](?=(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*$)/g, `${blank}$&${blank}`) + blank;
        expect(finish(readingJson(spaced, { stepChars }))).toEqual(JSON.parse(text));
      }),
    );
  });

  test.each([1, 7, 40])('with %i characters a step a text is refused where JSON.parse refuses it', (stepChars) => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', ',', ':', '"', '{', '}', '[', ']', '1', '\\', '\u00a0'),
        (text, at, insert) => {
          const cut = at % (text.length + 1);
          for (const changed of [
            text.slice(0, cut) + insert + text.slice(cut),
            text.slice(0, cut) + insert + text.slice(cut + 1),
          ])
            expect(outcome(() => finish(readingJson(changed, { stepChars })))).toEqual(outcome(() => JSON.parse(changed)));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('keys of prototypes are plain keys', () => {
    const text = '{"__proto__":{"a":[1,2,3,4,5,6]},"constructor":{"__proto__":1},"x":{"__proto__":[[[[]]]]}}';
    const value = finish(readingJson(text, { stepChars: 4 })) as object;
    expect(JSON.stringify(value)).toBe(text);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test('a step looks at a bounded part of the text, however it is nested', () => {
    const flat = JSON.stringify({ a: times(100_000, (at) => `${at}`) });
    const wide = JSON.stringify(Object.fromEntries(times(200, (at) => [`k${at}`, times(1_000, String)])));
    const deep = `${'{"a":['.repeat(400)}"${'x'.repeat(1_000_000)}"${']}'.repeat(400)}`;
    for (const text of [flat, wide]) {
      const { value, count } = counted(readingJson(text, { valuesMax: 500_000 }));
      expect(JSON.stringify(value)).toBe(text);
      expect(count).toBeGreaterThan(text.length / jsonStepChars / 2);
    }
    expect(JSON.stringify(counted(readingJson(deep)).value)).toBe(deep);
  });

  test('what holds too much is refused', () => {
    const keys = JSON.stringify(Object.fromEntries(times(20_000, (at) => [`k${at}`, at])));
    expect(() => finish(readingJson(keys))).toThrow(new TooLargeError(10_000, 'keys'));
    expect(() => finish(readingJson(keys, { valuesMax: 30_000 }))).toThrow(new TooLargeError(30_000));
    expect(() => finish(readingJson(`${'['.repeat(70_000)}`))).toThrow('exceeded max depth');
  });
});

describe('writing in steps', () => {
  test.each([1, 5, 4_000])('with %i values a step any value is written as JSON.stringify writes it', (stepValues) => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(finish(writingJson(value, stepValues))).toBe(JSON.stringify(value));
      }),
    );
  });

  test('maps are objects, and what is undefined is left out of them', () => {
    const value = {
      a: new Map<string, unknown>([
        ['b', [undefined, 1]],
        ['c', undefined],
        ['__proto__', {}],
      ]),
      d: undefined,
    };
    expect(finish(writingJson(value))).toBe('{"a":{"b":[null,1],"__proto__":{}}}');
  });

  test('a step writes a bounded number of values, however they are nested', () => {
    const chain = times(500, String).reduce<object>((inner) => ({ a: inner, b: times(100, String) }), {});
    for (const value of [times(100_000, String), { a: times(300, () => times(300, String)) }, chain]) {
      const { value: text, count } = counted(writingJson(value));
      expect(text).toBe(JSON.stringify(value));
      expect(count).toBeGreaterThan(50_000 / 4_000);
    }
  });
});
