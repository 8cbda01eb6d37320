import { expect, test } from 'vitest';
import { negotiate, negotiateStatus } from './negotiation.ts';

const none = new URLSearchParams();

test.each([
  ['', 'json', false],
  ['application/yaml', 'yaml', false],
  ['application/yaml,application/json', 'yaml', false],
  ['application/json;q=0.5,application/yaml', 'yaml', false],
  ['application/vnd.kubernetes.protobuf', 'protobuf', false],
  ['application/vnd.kubernetes.protobuf;stream=watch', 'protobuf', false],
  ['application/json;as=Table;v=v1;g=meta.k8s.io', 'json', true],
  ['application/yaml;as=Table;v=v1;g=meta.k8s.io,application/json', 'json', false],
  ['text/plain', 'json', true],
])('a failure for %s', (accept, encoding, pretty) => {
  expect(negotiateStatus(accept, none, '')).toMatchObject({ encoding, pretty });
});

const custom = { tables: true, protobuf: false, listable: false, unrouted: true };

test('custom resources: metadata in protobuf, nothing else', () => {
  const metadata = 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
  expect(negotiate(metadata, custom, none, '')).toMatchObject({ encoding: 'protobuf', as: 'PartialObjectMetadata' });
  const refusal =
    'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf';
  for (const accept of ['application/vnd.kubernetes.protobuf', 'text/plain'])
    expect(() => negotiate(accept, custom, none, '')).toThrow(refusal);
});
