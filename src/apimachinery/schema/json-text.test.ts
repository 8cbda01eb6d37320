import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DecodeError, TooLargeError } from './context.ts';
import { parseJson, parsingJson } from './json-text.ts';

test('any JSON text gives what JSON.parse gives', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseJson(text, { findDuplicates: true }).value).toEqual(JSON.parse(text));
    }),
  );
});

test('bad text throws our own error, whatever it is', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.string(), (text, at, insert) => {
      const cut = at % (text.length + 1);
      try {
        parseJson(text.slice(0, cut) + insert + text.slice(cut + 1), { findDuplicates: true });
      } catch (error) {
        expect((error as Error).name).toBe('DecodeError');
        expect((error as Error).message).not.toBe('invalid JSON');
      }
    }),
  );
});

test.each([
  ['é', "invalid character 'Ã' looking for beginning of value"],
  ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
  ['{"a":1 😀', "invalid character 'ð' after object key:value pair"],
  ['[\u00a0]', "invalid character 'Â' looking for beginning of value"],
  ['\xff', "invalid character 'Ã' looking for beginning of value"],
  [`{"a":${'['.repeat(1001)}`, "invalid character '[' exceeded max depth"],
])('%j is refused by the first byte of what is wrong', (text, why) => {
  expect(() => parseJson(text)).toThrow(why);
});

test('the first number that no float holds is named', () => {
  expect(parseJson('{"a":1e3,"b":[-1e400,1e500]}').duplicates?.beyond).toBe('-1e400');
  expect(parseJson('{"a":1e3}').duplicates?.beyond).toBeUndefined();
});

test('duplicate keys are found at any depth, the last value wins', () => {
  const { value, duplicates } = parseJson('{"a":1,"b":[{"c":1,"c":2}],"a":{"x":"{\\"a\\":1}"}}', { findDuplicates: true });
  const object = value as { a: object; b: object[] };
  expect(value).toEqual({ a: { x: '{"a":1}' }, b: [{ c: 2 }] });
  expect(duplicates?.get(object)).toEqual(['a']);
  expect(duplicates?.order.get(object)).toEqual(['a', 'b', 'a']);
  expect(duplicates?.get(object.b[0] ?? {})).toEqual(['c']);
  expect(duplicates?.get(object.a)).toBeUndefined();
});

test('colons, quotes and escapes in strings do not look like duplicates', () => {
  expect(parseJson('{"a:b":"\\\\","c":"\\":\\"","d":"{:["}', { findDuplicates: true }).duplicates).toBeUndefined();
});

test.each([
  ['a high half alone', '["a\\ud800b"]', 'a\ufffdb'],
  ['a low half alone', '["\\uDC00"]', '\ufffd'],
  ['two high halves', '["\\ud83d\\ud83d\\ude00"]', '\ufffd\ud83d\ude00'],
  ['a whole pair', '["\\ud83d\\ude00"]', '\ud83d\ude00'],
  ['a backslash before what looks like a half', '["\\\\ud800"]', '\\ud800'],
])('%s is read as Go reads it', (_, text, wanted) => {
  expect(parseJson(text, { findDuplicates: true }).value).toEqual([wanted]);
});

test('halves of surrogate pairs in keys are replaced, too, and may make keys equal', () => {
  const { value, duplicates } = parseJson('{"\\ud800":1,"\\udfff":2}', { findDuplicates: true });
  expect(value).toEqual({ '\ufffd': 2 });
  expect(duplicates?.get(value as object)).toEqual(['\ufffd']);
});

test('numbers that are not plain integers are noted as written', () => {
  const { value, duplicates } = parseJson('{"a":1.0,"b":1e3,"c":5,"d":{"e":-0.5},"f":"1.0","g":1.5,"g":2}');
  const object = value as { d: object };
  expect([...(duplicates?.literals.get(object) ?? [])]).toEqual([
    ['a', '1.0'],
    ['b', '1e3'],
  ]);
  expect(duplicates?.literals.get(object.d)?.get('e')).toBe('-0.5');
  expect(parseJson('{"name":"1.0","true":[true,false,1]}').duplicates).toBeUndefined();
});

test('a text that holds too much is refused before it is parsed', () => {
  for (const text of [
    `[${'0,'.repeat(400_000)}0]`,
    `{${'"k":1,'.repeat(200_000)}"k":1}`,
    `${'['.repeat(300_000)}`,
    `"${'" "'.repeat(300_000)}`,
  ])
    expect(() => parseJson(text, { findDuplicates: true })).toThrow(DecodeError);
  expect(() => parseJson(`[${'0,'.repeat(400_000)}0]`)).toThrow(TooLargeError);
});

test('keys of the prototype are keys like any other', () => {
  const text = '{"__proto__":1,"constructor":2,"toString":{"__proto__":{"x":1}},"":3}';
  const { value, duplicates } = parseJson(text, { findDuplicates: true });
  expect(JSON.stringify(value)).toBe(text);
  expect(duplicates).toBeUndefined();
  const twice = parseJson('{"constructor":1.0,"__proto__":1,"__proto__":2}', { findDuplicates: true });
  expect(JSON.stringify(twice.value)).toBe('{"constructor":1,"__proto__":2}');
  expect(twice.duplicates?.get(twice.value as object)).toEqual(['__proto__']);
});

test('equal keys without number cost no more than different ones', () => {
  const repeated = parseJson(`{${'"k":1,'.repeat(40_000)}"k":1}`, { findDuplicates: true });
  expect(repeated.duplicates?.get(repeated.value as object)).toHaveLength(40_000);
});

test('a long text is parsed and compared with its keys in steps, a short one at once', () => {
  const steps = (count: number): number => {
    const text = JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'x'])));
    const work = parsingJson(text, { findDuplicates: true });
    for (let at = 1; ; at++) if (work.next().done === true) return at;
  };
  expect(steps(10)).toBe(1);
  expect(steps(40_000)).toBeGreaterThanOrEqual(3);
});
