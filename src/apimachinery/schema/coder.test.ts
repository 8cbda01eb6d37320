import { expect, test } from 'vitest';
import { decode, normalize } from './coder.ts';
import { DecodeError } from './context.ts';
import { parseJson } from './json-text.ts';
import { jsonDepthMax } from './limits.ts';
import { schemaTableOf } from './table.ts';
import { applySchemaDefaults, visit } from './walk.ts';

const table = schemaTableOf({
  source: 'test',
  version: 'v0',
  kinds: { 'example.com/v1': { 'com.example.v1': 'Thing' } },
  types: {
    'com.example.v1.Thing': [
      'kind 0 string -o',
      'apiVersion 0 string -o',
      'labels 2 {}string -o',
      'spec 3 .Spec -o',
      'parts 4 []bytes -o',
      'other 5 .Thing -*o',
    ],
    'com.example.v1.Spec': [
      'size 1 int32 -!',
      'mode 2 string -o default="Fast"',
      'on 3 bool -*o',
      'ports 4 [].Port list=map:port',
      '= 5 .Source',
    ],
    'com.example.v1.Port': ['port 1 int32 -!0', 'protocol 2 string -o go=v1.Protocol default="TCP"'],
    'com.example.v1.Source': ['path 1 string -o'],
  },
});
const thing = 'com.example.v1.Thing';

test('fields come in the struct order, map keys sorted, zero values as the encoder writes them', () => {
  const { object } = decode(table, thing, {
    spec: { path: '/x', mode: '' },
    labels: { b: '1', a: '2' },
    kind: 'Thing',
    parts: [],
  });
  expect(JSON.stringify(object)).toBe('{"kind":"Thing","labels":{"a":"2","b":"1"},"spec":{"size":0,"ports":null,"path":"/x"}}');
});

test('a pointer keeps its zero value, null is absent', () => {
  const { object } = decode(table, thing, { spec: { on: false, size: null, ports: [null] }, other: null });
  expect(object).toEqual({ spec: { size: 0, on: false, ports: [{ port: 0 }] } });
});

test('unknown fields are dropped and, when strict, reported with their path', () => {
  const json = { nope: 1, spec: { ports: [{ port: 1, x: {} }] }, labels: {} };
  expect(decode(table, thing, json).strictErrors).toEqual([]);
  expect(decode(table, thing, json, { strict: true }).strictErrors).toEqual([
    'unknown field "nope"',
    'unknown field "spec.ports[0].x"',
  ]);
});

test('the first type error is thrown with the Go path through inlined structs', () => {
  expect(() => decode(table, thing, { spec: { path: 5, size: 'x' } })).toThrow(
    'json: cannot unmarshal number into Go struct field Spec.spec.Source.path of type string',
  );
  expect(() => decode(table, thing, { spec: { ports: [{ protocol: {} }] } })).toThrow('of type v1.Protocol');
  expect(() => decode(table, thing, { spec: { size: 2 ** 31 } })).toThrow('cannot unmarshal number 2147483648 into');
});

test('__proto__ is a key like any other', () => {
  const { value } = parseJson('{"labels":{"__proto__":"x","a":"b"},"__proto__":{"kind":"y"}}');
  const { object, strictErrors } = decode(table, thing, value, { strict: true });
  expect(JSON.stringify(object)).toContain('{"__proto__":"x","a":"b"}');
  expect(object['kind']).toBeUndefined();
  expect(strictErrors).toEqual(['unknown field "__proto__"']);
});

test('nesting beyond the limit is an error, not a crash', () => {
  const deep = `${'{"other":'.repeat(jsonDepthMax + 1)}{}${'}'.repeat(jsonDepthMax + 1)}`;
  expect(() => parseJson(deep)).toThrow(DecodeError);
  const allowed = `${'{"other":'.repeat(jsonDepthMax - 1)}{}${'}'.repeat(jsonDepthMax - 1)}`;
  expect(() => decode(table, thing, parseJson(allowed).value)).not.toThrow();
});

test('normalize makes a fresh object and leaves the given one alone', () => {
  const given = Object.freeze({ spec: Object.freeze({ size: 1, path: '', ports: [] }), extra: undefined });
  const result = normalize<Record<string, unknown>>(table, thing, given);
  expect(result).toEqual({ spec: { size: 1, ports: null } });
  expect(result['spec']).not.toBe(given.spec);
});

test('defaults of the schema are filled in once', () => {
  const object = { spec: { ports: [{ port: 1 }, { port: 2, protocol: 'UDP' }] } };
  applySchemaDefaults(table, thing, object);
  const once = structuredClone(object);
  applySchemaDefaults(table, thing, object);
  expect(object).toEqual(once);
  expect(object).toEqual({
    spec: {
      mode: 'Fast',
      ports: [
        { port: 1, protocol: 'TCP' },
        { port: 2, protocol: 'UDP' },
      ],
    },
  });
});

test('visit reaches every field that is present', () => {
  const seen: string[] = [];
  visit(table, thing, { spec: { ports: [{ port: 1 }], path: 'x' } }, (field) => seen.push(field.name));
  expect(seen).toEqual(['spec', 'ports', 'port', 'path']);
});

test('kinds are found, metav1 kinds in every group version', () => {
  expect(table.kind('example.com', 'v1', 'Thing')?.name).toBe(thing);
  expect(table.kind('example.com', 'v2', 'Thing')).toBeUndefined();
  expect(table.type('constructor')).toBeUndefined();
  expect(table.type(thing)?.gvks).toEqual([{ group: 'example.com', version: 'v1', kind: 'Thing' }]);
});

test('a struct embedded in an embedded one is named too', () => {
  const nested = schemaTableOf({
    source: 'test',
    version: 'v0',
    kinds: {},
    types: {
      'com.example.v1.Outer': ['= 2 .Middle'],
      'com.example.v1.Middle': ['= 2 .Inner'],
      'com.example.v1.Inner': ['names 1 []string -o'],
    },
  });
  expect(() => decode(nested, 'com.example.v1.Outer', { names: 'x' })).toThrow(
    'json: cannot unmarshal string into Go struct field Outer.Middle.Inner.names of type []string',
  );
});

test('the first error is that of the text, or of the struct where fields are read in its order', () => {
  const why = (json: unknown, byField = false): string => {
    try {
      decode(table, thing, json, { byField });
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  expect(why({ labels: { z: 1, a: [] } })).toBe('json: cannot unmarshal number into Go struct field Thing.labels of type string');
  const spec = { path: [], mode: {}, size: 'x' };
  expect(why({ spec })).toContain('cannot unmarshal array into Go struct field Spec.spec.Source.path');
  expect(why({ spec }, true)).toContain('cannot unmarshal string into Go struct field Spec.spec.size');
});
