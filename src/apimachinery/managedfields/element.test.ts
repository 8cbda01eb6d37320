import { expect, test, vi } from 'vitest';
import { compareElements, sortedElements } from './element.ts';

const elements = [
  ...['f:b', 'f:a', '.', 'i:10', 'i:9', 'v:"b"', 'v:"a!"', 'v:"a"', 'v:2', 'v:10', 'v:true', 'v:null'],
  ...['k:{"port":80,"protocol":"TCP"}', 'k:{"port":8}', 'k:{"port":80}', 'k:{"name":"a b"}', 'k:{"name":"a"}'],
];
const wanted = [
  ...['.', 'f:a', 'f:b', 'k:{"name":"a"}', 'k:{"name":"a b"}', 'k:{"port":8}', 'k:{"port":80}', 'k:{"port":80,"protocol":"TCP"}'],
  ...['v:2', 'v:10', 'v:"a"', 'v:"a!"', 'v:"b"', 'v:true', 'v:null', 'i:9', 'i:10'],
];

test('elements stand in upstream’s order, by what they say and not by how it is written', () => {
  expect(sortedElements(elements)).toEqual(wanted);
  for (const [at, element] of wanted.entries())
    for (const [other, text] of wanted.entries())
      expect(Math.sign(compareElements(element, text)), `${element} ${text}`).toBe(Math.sign(at - other));
});

test('each of many elements is read once to put them in order', () => {
  const parse = vi.spyOn(JSON, 'parse');
  const many = Array.from({ length: 1_000 }, (_, at) => `k:{"name":"n${(at * 617) % 1_000}"}`);
  const sorted = sortedElements(many);
  const reads = parse.mock.calls.length;
  parse.mockRestore();
  expect(sorted[1]).toBe('k:{"name":"n1"}');
  expect(reads).toBe(1_000);
});
