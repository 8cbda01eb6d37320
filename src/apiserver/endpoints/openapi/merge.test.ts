import { describe, expect, test } from 'vitest';
import { finish, type Steps } from '#utils';
import { writingJson } from '#apimachinery/schema';
import { filterV2, type Json, mergeV2, v3FromV2 } from './merge.ts';

const ref = (name: string): Json => ({ $ref: `#/definitions/${name}` });
const answers = (name: string): Json => ({ get: { responses: { 200: { schema: ref(name) } } } });
const times = <T>(count: number, each: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => each(at));
const plain = (steps: Steps<Json>): Json => JSON.parse(finish(writingJson(finish(steps)))) as Json;

describe('specifications of other servers', () => {
  test('only paths below the prefix are kept, with the definitions that they need, directly or not', () => {
    const spec = {
      swagger: '2.0',
      paths: { '/apis/a/v1/x': answers('X'), '/apis/a/v2/y': answers('Y') },
      definitions: { Z: {}, Y: {}, X: { properties: { inner: { items: ref('Deep') } } }, Deep: { properties: { x: ref('X') } } },
    };
    expect(finish(filterV2(spec, '/apis/a/v1/'))).toEqual({
      swagger: '2.0',
      paths: { '/apis/a/v1/x': answers('X') },
      definitions: { X: spec.definitions.X, Deep: spec.definitions.Deep },
    });
    expect(finish(filterV2('no object', '/'))).toEqual({ paths: {}, definitions: {} });
  });

  test('a definition of the same name is ours, or gets a name of its own where its shape differs', () => {
    const gvk = (kind: string): Json => ({ 'x-kubernetes-group-version-kind': [{ group: '', kind, version: 'v1' }] });
    const ours = {
      info: 'ours',
      paths: { '/a': answers('Same') },
      definitions: { Same: { description: 'a', type: 'object', ...gvk('A') }, Other: { type: 'string' } },
    };
    const theirs = {
      info: 'theirs',
      paths: { '/a': {}, '/b': answers('Other') },
      definitions: {
        Same: { type: 'object', description: 'b', ...gvk('B') },
        Other: { type: 'object' },
        New: { items: ref('Other') },
      },
    };
    const same = {
      ...ours.definitions.Same,
      'x-kubernetes-group-version-kind': [...times(2, (at) => ({ group: '', kind: 'AB'[at], version: 'v1' }))],
    };
    const merged = plain(mergeV2(ours, [theirs]));
    expect(merged).toEqual({
      info: 'ours',
      paths: { '/a': answers('Same'), '/b': answers('Other_v2') },
      definitions: { Same: same, Other: { type: 'string' }, Other_v2: { type: 'object' }, New: { items: ref('Other_v2') } },
    });
    // A third server has one more of that name.
    const third = { paths: {}, definitions: { Other: { type: 'number' } } };
    expect(Object.keys(plain(mergeV2(ours, [theirs, third]))['definitions'] as Json)).toContain('Other_v3');
    expect(finish(mergeV2(ours, []))).toBe(ours);
  });

  test.each([
    [{ a: [1, { description: 'x' }] }, { a: [1, {}] }, true],
    [{ a: [1, 2] }, { a: [2, 1] }, false],
    [{ a: [1] }, { a: { 0: 1 } }, false],
    [{ description: { a: 1 } }, { description: { a: 2 } }, false],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: 1 }, { b: 1 }, false],
    [{ a: null }, { a: {} }, false],
  ])('%j and %j have the same shape: %s', (one, other, same) => {
    const merged = plain(mergeV2({ paths: {}, definitions: { D: one } }, [{ paths: {}, definitions: { D: other } }]));
    expect(Object.keys(merged['definitions'] as Json)).toEqual(same ? ['D'] : ['D', 'D_v2']);
  });

  test('a v3 document is made of a v2 one', () => {
    const post = {
      consumes: ['a/b'],
      parameters: [{ in: 'body', name: 'body', required: true, schema: ref('D') }],
      responses: {},
    };
    const spec = {
      info: { title: 't' },
      produces: ['c/d'],
      paths: { '/x': { ...answers('D'), post } },
      definitions: { D: { items: ref('D') } },
    };
    const schema = { $ref: '#/components/schemas/D' };
    expect(finish(v3FromV2(spec))).toEqual({
      openapi: '3.0.0',
      info: { title: 't' },
      paths: {
        '/x': {
          get: { parameters: [], responses: { 200: { content: { 'c/d': { schema } } } } },
          post: { parameters: [], requestBody: { content: { 'a/b': { schema } }, required: true }, responses: {} },
        },
      },
      components: { schemas: { D: { items: schema } } },
    });
  });

  test('each step looks at a bounded part, whether it is many definitions or one', () => {
    const count = (steps: Steps<unknown>): number => {
      for (let at = 1; ; at++) if (steps.next().done === true) return at;
    };
    const many = {
      paths: Object.fromEntries(times(9_000, (at) => [`/a/${at}`, answers(`d${at}`)])),
      definitions: Object.fromEntries(times(9_000, (at) => [`d${at}`, { items: {} }])),
    };
    const one = { paths: { '/a/': answers('D') }, definitions: { D: { a: times(100_000, () => ({})) } } };
    const ours = { paths: {}, definitions: { D: { a: times(100_000, () => ({})) }, d1: {} } };
    for (const spec of [many, one]) {
      expect(count(filterV2(spec, '/a/'))).toBeGreaterThan(10);
      expect(count(v3FromV2(spec))).toBeGreaterThan(40);
      expect(count(mergeV2(ours, [spec]))).toBeGreaterThan(40);
    }
  });
});
