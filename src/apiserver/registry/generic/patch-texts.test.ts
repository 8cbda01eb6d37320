import { expect, test } from 'vitest';
import { jsonPatch, mergePatch } from '#apimachinery/patch';
import { DecodeError } from '#apimachinery/schema';
import { appliedText, asLibraryWrites, conversionText } from './patch-texts.ts';
import type { ServedResource } from './types.ts';

const current = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', uid: 'u', labels: { z: '1', b: '2' }, resourceVersion: '7' },
  data: { k: 'v' },
};

test.each([
  [
    'merge, metadata untouched: in the order of the encoder',
    { data: { j: 1 } },
    '{"apiVersion":"v1","data":{"j":1,"k":"v"},"kind":"ConfigMap","metadata":{"name":"a","uid":"u","resourceVersion":"7","labels":{"z":"1","b":"2"}}}',
  ],
  [
    'merge into metadata: sorted, its labels as they were',
    { metadata: { x: 1 } },
    '{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"labels":{"z":"1","b":"2"},"name":"a","resourceVersion":"7","uid":"u","x":1}}',
  ],
])('%s', (_, body, text) => {
  expect(JSON.stringify(asLibraryWrites(mergePatch(current, body), current, body))).toBe(text);
});

test('values of a JSON patch stay as written', () => {
  const body = [{ op: 'add', path: '/data', value: { z: '1', a: '2' } }];
  expect(JSON.stringify(asLibraryWrites(jsonPatch(current, body), current, body))).toContain('"data":{"z":"1","a":"2"}');
});

test('a custom resource is written sorted', () => {
  const current = { kind: 'Thing', apiVersion: 'a/v1', metadata: { uid: 'u', name: 'a' }, spec: { b: { z: 1, y: 2 }, a: 1 } };
  const body = { spec: { more: { z: 1, a: 2 } } };
  expect(JSON.stringify(asLibraryWrites(mergePatch(current, body), current, body, true))).toBe(
    '{"apiVersion":"a/v1","kind":"Thing","metadata":{"name":"a","uid":"u"},"spec":{"a":1,"b":{"y":2,"z":1},"more":{"a":2,"z":1}}}',
  );
});

test.each([
  ['string', 'int32', 'int32', 'unrecognized type: int32'],
  ['number', 'string', 'string', 'cannot convert int64 to string'],
  ['number', 'v1.Protocol', 'string', 'cannot convert int64 to v1.Protocol'],
  ['number 1.5', 'string', 'string', 'unrecognized type: string'],
  ['number 1.5', 'int32', 'int32', 'cannot convert float64 to int32'],
  ['bool', 'string', 'string', 'unrecognized type: string'],
  ['bool', 'v1.Protocol', 'string', 'unrecognized type: string'],
  ['string', 'bool', 'bool', 'unrecognized type: bool'],
  ['array', 'string', 'own', 'json: cannot unmarshal array into Go value of type string'],
  ['number 1.5', 'int32', 'own', 'json: cannot unmarshal number 1.5 into Go value of type int32'],
  ['string', '[]v1.Container', 'slice', 'cannot restore slice from string'],
  ['array', 'map[string]string', 'map', 'cannot restore map from slice'],
  ['array', 'v1.ResourceList', 'map', 'cannot restore map from slice'],
  ['string', 'v1.PodSpec', undefined, 'cannot restore struct from: string'],
])('%s for %s (%s)', (value, goType, kind, text) => {
  expect(conversionText({ value, goType, kind, path: [] })).toBe(text);
});

test.each([
  ['string', 'string', 'unrecognized type: string'],
  ['map[string]string', 'map', 'cannot restore map from float64'],
  ['v1.PodSpec', undefined, 'cannot restore struct from: float64'],
])('a fraction for %s', (goType, kind, text) => {
  expect(conversionText({ value: 'number', goType, kind, path: [], isFraction: true })).toBe(text);
});

test.each([
  ['illegal base64 data at input byte 0', 'error decoding from json: illegal base64 data at input byte 0'],
  ['parsing time "x"', 'parsing time "x"'],
])('what was applied and cannot be read is named: %s', (message, why) => {
  const lease = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' } as ServedResource;
  expect(appliedText(lease, { name: 'a' }, new DecodeError(message))).toBe(
    `failed to convert new object (/a; coordination.k8s.io/v1, Kind=Lease) to proper version: unable to convert unstructured object to coordination.k8s.io/v1, Kind=Lease: ${why}`,
  );
});
