import { describe, expect, test } from 'vitest';
import { contentMediaType, negotiateMediaType, parseAccept } from './media-type.ts';

const json = 'application/json';
const yaml = 'application/yaml';
const protobuf = 'application/vnd.kubernetes.protobuf';
const offers = { mediaTypes: [json, yaml, protobuf], streams: [json, protobuf] };

describe('negotiateMediaType', () => {
  test.each([
    ['', json],
    ['*/*', json],
    ['*', json],
    ['application/*', json],
    ['application/yaml', yaml],
    ['text/html', undefined],
    ['text/html,application/json;q=0.5', json],
    ['application/json;q=0.1,application/yaml;q=0.2', yaml],
    ['*/*,application/yaml', yaml],
    ['application/json;as=Nope', undefined],
    ['application/json;v=v1', undefined],
    ['application/json;stream=watch', json],
    ['application/yaml;stream=watch', undefined],
    ['application/json;stream=other', undefined],
    ['APPLICATION/JSON', undefined],
    ['application/json,', json],
    ['application/vnd.kubernetes.protobuf, application/json', protobuf],
    ['application/json; charset=utf-8', json],
    ['a/b/c', undefined],
  ])('%s', (header, expected) => {
    expect(negotiateMediaType(header, offers)?.mediaType).toBe(expected);
  });

  test('takes the first clause whose conversion can be made', () => {
    const header =
      'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1;g=meta.k8s.io;pretty=1';
    const converts = (mediaType: string): boolean => mediaType === json;
    expect(negotiateMediaType(header, { ...offers, converts })).toEqual({
      mediaType: json,
      pretty: true,
      stream: '',
      profile: '',
      convert: { group: 'meta.k8s.io', version: 'v1', kind: 'Table' },
    });
  });
});

test('parseAccept orders by quality, then by wildcards, then as written', () => {
  const order = parseAccept('a/a;q=0.5, */*, b/*, c/c;x=y, d/d');
  expect(order.map(({ type }) => type)).toEqual(['c', 'd', 'b', '*', 'a']);
  expect(order[0]?.parameters.get('x')).toBe('y');
});

test.each([
  ['application/json', 'application/json'],
  ['Application/JSON; charset="utf-8"', 'application/json'],
  ['application/json;', 'application/json'],
  ['application/json; charset', undefined],
  ['json', undefined],
  ['', undefined],
])('contentMediaType(%s)', (header, expected) => {
  expect(contentMediaType(header)).toBe(expected);
});
