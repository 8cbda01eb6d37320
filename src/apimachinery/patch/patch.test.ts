import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldSchema, SchemaTable, TypeSchema } from '../schema/index.ts';
import { jsonPatch, mergePatch, strategicMergePatch } from './index.ts';

const field = (name: string, rest: Partial<FieldSchema> = {}): FieldSchema => ({
  name,
  number: 1,
  type: 'string',
  omitempty: true,
  ...rest,
});
const types: TypeSchema[] = [
  {
    name: 'test.Pod',
    fields: [
      field('containers', {
        type: 'message',
        ref: 'test.Container',
        shape: 'list',
        patchStrategy: 'merge',
        patchMergeKey: 'name',
      }),
      field('volumes', {
        type: 'message',
        ref: 'test.Volume',
        shape: 'list',
        patchStrategy: 'merge,retainKeys',
        patchMergeKey: 'name',
      }),
      field('finalizers', { shape: 'list', patchStrategy: 'merge' }),
      field('args', { shape: 'list' }),
      field('labels', { shape: 'map' }),
      field('named', { type: 'message', ref: 'test.Container', shape: 'map' }),
      field('raw', { type: 'rawExtension', goType: 'runtime.RawExtension' }),
      field('strategy', { type: 'message', ref: 'test.Volume', patchStrategy: 'retainKeys' }),
    ],
  },
  { name: 'test.Container', fields: [field('name'), field('image'), field('args', { shape: 'list' })] },
  { name: 'test.Volume', fields: [field('name'), field('a'), field('b')] },
];
const table: SchemaTable = {
  type: (name) => types.find((one) => one.name === name),
  kind: () => undefined,
  names: () => [],
  kinds: () => [],
};

describe('strategicMergePatch', () => {
  const strategic = (original: unknown, patch: unknown): unknown =>
    strategicMergePatch(table, 'test.Pod', original, patch).object;
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name, image: name }));
  it.each([
    [
      'merges items by key',
      { containers: [a, b] },
      { containers: [{ name: 'b', image: 'x' }] },
      { containers: [a, { name: 'b', image: 'x' }] },
    ],
    ['puts new items first', { containers: [a] }, { containers: [c] }, { containers: [c, a] }],
    ['deletes items', { containers: [a, b] }, { containers: [{ name: 'a', $patch: 'delete' }] }, { containers: [b] }],
    ['replaces lists', { containers: [a, b] }, { containers: [{ $patch: 'replace' }, c] }, { containers: [c] }],
    ['replaces lists without strategy', { args: ['a', 'b'] }, { args: ['c'] }, { args: ['c'] }],
    ['merges scalars', { finalizers: ['a', 'b'] }, { finalizers: ['b', 'c'] }, { finalizers: ['a', 'b', 'c'] }],
    ['deletes scalars', { finalizers: ['a', 'b'] }, { '$deleteFromPrimitiveList/finalizers': ['a'] }, { finalizers: ['b'] }],
    ['removes by null', { labels: { a: '1', b: '2' } }, { labels: { a: null, z: null } }, { labels: { b: '2' } }],
    ['drops nulls of new values', {}, { labels: { a: null, b: '1' } }, { labels: { b: '1' } }],
    ['replaces objects', { labels: { a: '1' } }, { labels: { $patch: 'replace', b: '2' } }, { labels: { b: '2' } }],
    ['empties objects', { labels: { a: '1' } }, { labels: { $patch: 'delete' } }, { labels: {} }],
    ['retains keys', { strategy: { a: '1', b: '2' } }, { strategy: { $retainKeys: ['a'], a: '3' } }, { strategy: { a: '3' } }],
    [
      'orders items',
      { containers: [a, b, c] },
      { '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }], containers: [{ name: 'a', image: 'x' }] },
      { containers: [b, c, { name: 'a', image: 'x' }] },
    ],
    ['takes nothing from a list by a text', { args: ['a'] }, { '$deleteFromPrimitiveList/args': 'a' }, { args: ['a'] }],
    ['replaces a text by a text of what is to go', { a: 'x' }, { '$deleteFromPrimitiveList/a': 'y' }, { a: 'y' }],
    ['orders scalars', { finalizers: ['a', 'b'] }, { '$setElementOrder/finalizers': ['b', 'a'] }, { finalizers: ['b', 'a'] }],
  ])('%s', (_, original, patch, result) => {
    const before = JSON.stringify([original, patch]);
    expect(strategic(original, patch)).toEqual(result);
    expect(JSON.stringify([original, patch])).toBe(before);
  });

  it.each([
    [{ containers: [{ image: 'x' }] }, 500, 'map: map[image:x] does not contain declared merge key: name'],
    [{ containers: [{ name: 'a', $patch: 'nope' }] }, 500, 'unknown patch type: nope in map: map[$patch:nope name:a]'],
    [{ $patch: 1 }, 500, 'unknown patch type: %!s(int64=1) in map: map[$patch:1]'],
    [
      { $patch: { a: [true, null] } },
      500,
      'unknown patch type: map[a:[%!s(bool=true) <nil>]] in map: map[$patch:map[a:[true <nil>]]]',
    ],
    [{ '$setElementOrder/args': 5 }, 500, 'expected a []interface {}, but received a int64'],
    [{ '$setElementOrder/args': null }, 500, 'expected a []interface {}, but received a %!s(<nil>)'],
    [{ '$setElementOrder/labels': [] }, 500, 'expected slice or array type, but got: struct'],
    [{ strategy: { $retainKeys: 3 } }, 400, 'invalid patch format of retainKeys'],
    [{ finalizers: [['a']] }, 422, 'the server rejected our request due to an error in our request'],
    [{ finalizers: [{}] }, 500, 'cannot merge lists without merge key for string'],
    [{ named: { a: { name: 'b' } } }, 500, 'merging an object in json but data type is not struct, instead is: map'],
    [{ raw: { a: { b: 1 } } }, 500, 'unable to find api field in struct RawExtension for the json field "a"'],
    [{ strategy: { $retainKeys: ['a'], b: '1' } }, 400, 'invalid patch format of retainKeys'],
    [
      { '$setElementOrder/containers': [{ name: 'b' }], containers: [{ name: 'a', image: 'x' }] },
      500,
      "The order in patch list:\n[map[image:x name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
    ],
    [['x'], 400, 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
  ])('refuses %j', (patch, code, message) => {
    const original = { containers: [a], strategy: { a: '1' }, finalizers: [], named: { a: { name: 'a' } }, raw: { a: {} } };
    expect(() => strategic(original, patch)).toThrow(
      expect.objectContaining({ message, status: expect.objectContaining({ code }) }),
    );
  });
});

it('what a strategic merge has used is gone from what is left of the patch', () => {
  const patch = {
    '$setElementOrder/containers': [{ name: 'a' }],
    containers: [{ name: 'a', image: 'x' }],
    strategy: { $retainKeys: ['a'], a: '1' },
    labels: { a: null, b: '1', c: [{ $patch: 'delete' }, { d: null }] },
  };
  const original = { containers: [{ name: 'a' }], strategy: { a: '1' } };
  expect(strategicMergePatch(table, 'test.Pod', original, patch).left).toEqual({
    strategy: { a: '1' },
    labels: { b: '1', c: [{}] },
  });
});

describe('jsonPatch', () => {
  it.each([
    [[{ op: 'add', path: '/a/-', value: 3 }], { a: [1, 2, 3], b: { c: 1 } }],
    [[{ op: 'add', path: '/a/-1', value: 3 }], { a: [1, 2, 3], b: { c: 1 } }],
    [[{ op: 'add', path: '/a/0', value: 0 }], { a: [0, 1, 2], b: { c: 1 } }],
    [[{ op: 'remove', path: '/b/c' }], { a: [1, 2], b: {} }],
    [[{ op: 'replace', path: '/b/x~1y', value: 1 }], { a: [1, 2], b: { c: 1, 'x/y': 1 } }],
    [[{ op: 'move', from: '/b/c', path: '/d' }], { a: [1, 2], b: {}, d: 1 }],
    [
      [
        { op: 'copy', from: '/b', path: '/d' },
        { op: 'add', path: '/d/e', value: 2 },
      ],
      { a: [1, 2], b: { c: 1 }, d: { c: 1, e: 2 } },
    ],
    [[{ op: 'test', path: '/b', value: { c: 1 } }], { a: [1, 2], b: { c: 1 } }],
    [[{ op: 'test', path: '/none', value: null }], { a: [1, 2], b: { c: 1 } }],
    [[{ op: 'add', path: '/q' }], { a: [1, 2], b: { c: 1 }, q: null }],
    [null, { a: [1, 2], b: { c: 1 } }],
  ])('%j', (patch, result) => {
    const document = Object.freeze({ a: Object.freeze([1, 2]), b: Object.freeze({ c: 1 }) });
    expect(jsonPatch(document, patch)).toEqual(result);
    expect(document).toEqual({ a: [1, 2], b: { c: 1 } });
  });

  it.each([
    { op: 'test', path: '/a/0', value: 2 },
    { op: 'remove', path: '/x' },
    { op: 'add', path: '/x/y', value: 1 },
    { op: 'add', path: '/a/9', value: 1 },
    { op: 'add', path: '/__proto__/polluted', value: 1 },
    { op: 'replace', path: '/a/x', value: 1 },
    { op: 'nope', path: '/a' },
    { op: 'add', value: 1 },
    { op: 'move', path: '/q' },
    null,
  ])('does not apply: %j', (operation) => {
    const message = 'the server rejected our request due to an error in our request';
    expect(() => jsonPatch({ a: [1], b: {} }, [operation])).toThrow(
      expect.objectContaining({ message, status: expect.objectContaining({ code: 422 }) }),
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('refuses other bodies and too many operations', () => {
    expect(() => jsonPatch({}, { op: 'add' })).toThrow(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    );
    const many = new Array(10_001).fill({ op: 'test', path: '/a', value: null });
    expect(() => jsonPatch({}, many)).toThrow(
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    );
  });
});

describe('mergePatch', () => {
  it.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: ['b'] }, { a: ['c', 'd'] }, { a: ['c', 'd'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{ a: {} }, { a: [{ b: null }] }, { a: [{}] }],
  ])('%j + %j', (document, patch, result) => {
    expect(mergePatch(document, patch)).toEqual(result);
  });

  it('refuses what is no object', () => {
    expect(() => mergePatch({}, [1])).toThrow(
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    );
  });

  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.integer(),
      fc.string(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), tie('value'), { maxKeys: 3 }),
  })).object;

  it('applied twice is applied once, and changes no input', () => {
    fc.assert(
      fc.property(json, json, (document, patch) => {
        const before = JSON.stringify([document, patch]);
        const once = mergePatch(document, patch);
        expect(mergePatch(once, patch)).toEqual(once);
        expect(JSON.stringify([document, patch])).toBe(before);
      }),
    );
  });
});
