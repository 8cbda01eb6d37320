// What upstream's library (sigs.k8s.io/yaml 1.6.0, which the apiserver of v1.36 reads YAML with) made of some 400 texts, ordinary and odd.
import { expect, test } from 'vitest';
import { DecodeError } from '../schema/index.ts';
import { parseYaml } from './yaml-read.ts';
import { formatYaml } from './yaml-write.ts';
import written from './yaml-upstream-written.json' with { type: 'json' };
import recorded from './yaml-upstream.json' with { type: 'json' };

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
          .map(([key, inner]) => [key, sorted(inner)])
          .sort(([a], [b]) => ((a as string) < (b as string) ? -1 : 1))
      : value;

function reading(text: string): { json: unknown; strict: string | undefined } | { error: string } {
  try {
    const { value, duplicateKeys } = parseYaml(text);
    return { json: sorted(value), strict: duplicateKeys };
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError);
    return { error: (error as DecodeError).message };
  }
}

test.each(recorded as [string, { json?: string; strict?: string; error?: string }][])(
  'the text %j means what it means to upstream',
  (text, { json, strict, error }) => {
    expect(reading(text)).toEqual(error === undefined ? { json: sorted(JSON.parse(json ?? '')), strict } : { error });
  },
);

// What the same library wrote of objects whose keys and texts were put together at random from letters, breaks, separators and indicators.
test.each(written as [string, string][])('the object %j is written as upstream writes it', (json, text) => {
  expect(formatYaml(JSON.parse(json))).toBe(text);
  expect(parseYaml(text).value).toEqual(JSON.parse(json));
});
