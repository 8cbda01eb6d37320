import { expect, it } from 'vitest';
import { filterOf } from './filter.ts';
import type { Resource } from './resource.ts';

const instance = (name: string): Resource => ({
  kind: 'compute#instance',
  id: '1',
  name,
  creationTimestamp: '',
  selfLink: `https://www.googleapis.com/compute/v1/projects/p/zones/z/instances/${name}`,
});

it.each([
  ['name eq web-.*', 'web-1', true],
  ['name eq web-.*', 'db-1', false],
  ['name ne web-.*', 'db-1', true],
  ['(name eq web-.*)(zone eq "")', 'web-1', true],
  ['name = "web-1" AND name != web-2', 'web-1', true],
  ['name : web*', 'my-web', true],
])('the filter %j of %s is %s', (filter, name, expected) => expect(filterOf(filter)(instance(name))).toBe(expected));

it.each(['name eq (((((', 'name eq [', `name eq ${'a'.repeat(2_000)}`, 'name', 'name eq (?<=a)b'])('%.20j is refused', (filter) =>
  expect(() => filterOf(filter)).toThrow(expect.objectContaining({ status: 400 })),
);

it('a pattern that would try everything is compared in time linear in the text', () =>
  expect(filterOf('selfLink eq .*.*.*.*.*.*.*.*.*!')(instance('a'.repeat(1_000)))).toBe(false));
