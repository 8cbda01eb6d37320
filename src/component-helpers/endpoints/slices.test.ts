import { describe, expect, test } from 'vitest';
import type { Endpoint, EndpointPort, EndpointSlice } from '#api/discovery/v1';
import { packSlices, portsKey } from './slices.ts';

const ports: EndpointPort[] = [{ name: 'http', port: 80, protocol: 'TCP' }];
const endpoint = (name: string, ready = true): Endpoint => ({
  addresses: [name],
  conditions: { ready },
  targetRef: { kind: 'Pod', namespace: 'ns', name },
});
const slice = (name: string, members: string[], own: EndpointPort[] = ports): EndpointSlice => ({
  metadata: { name, labels: { l: '1' } },
  addressType: 'IPv4',
  endpoints: members.map((member) => endpoint(member)),
  ports: own,
});
const blank = (own: EndpointPort[]): EndpointSlice => ({
  metadata: { generateName: 'x-', labels: { l: '1' } },
  addressType: 'IPv4',
  ports: own,
});

function pack(existing: EndpointSlice[], wanted: Endpoint[], options: { label?: string; placeholder?: boolean } = {}) {
  const { label = '1', placeholder = true } = options;
  const plan = packSlices({
    groups: [{ ports, endpoints: wanted }],
    existing,
    blank,
    relabel: (one) =>
      one.metadata.labels?.['l'] === label ? one : { ...one, metadata: { ...one.metadata, labels: { l: label } } },
    endpointsMax: 3,
    placeholder,
  });
  const show = (one: EndpointSlice): string =>
    `${one.metadata.name ?? 'new'}:${(one.endpoints ?? []).map(({ addresses }) => addresses[0]).join('')}`;
  return { create: plan.create.map(show), update: plan.update.map(show), remove: plan.remove.map(show) };
}
const all = (names: string): Endpoint[] => names.split('').map((name) => endpoint(name));
const none = { create: [], update: [], remove: [] };

describe('packing', () => {
  test.each([
    ['nothing changed', [slice('s', ['a', 'b'])], all('ab'), none],
    ['a first one', [], all('a'), { ...none, create: ['new:a'] }],
    ['full slices', [], all('abcd'), { ...none, create: ['new:abc', 'new:d'] }],
    ['one more goes where it fits', [slice('s', ['a', 'b'])], all('abc'), { ...none, update: ['s:abc'] }],
    ['the slice that is fullest then', [slice('s', ['a']), slice('t', ['b', 'c'])], all('abcd'), { ...none, update: ['t:bcd'] }],
    [
      'what changes anyway is filled first',
      [slice('s', ['a', 'b', 'c']), slice('t', ['d'])],
      all('abde'),
      { ...none, update: ['s:abe'] },
    ],
    ['an empty slice goes', [slice('s', ['a']), slice('t', ['b'])], all('a'), { ...none, remove: ['t:b'] }],
    ['the last one leaves a placeholder in its place', [slice('s', ['a'])], [], { ...none, update: ['s:'] }],
    ['a placeholder stays', [slice('s', [], [])], [], none],
    ['a placeholder becomes the first slice', [slice('s', [], [])], all('a'), { ...none, update: ['s:a'] }],
    ['other ports', [slice('s', ['a'], [{ name: 'old', port: 1, protocol: 'TCP' }])], all('a'), { ...none, update: ['s:a'] }],
    ['a changed condition', [slice('s', ['a'])], [endpoint('a', false)], { ...none, update: ['s:a'] }],
  ])('%s', (_, existing, wanted, expected) => {
    expect(pack(existing, wanted)).toEqual(expected);
  });
  test('labels alone', () => expect(pack([slice('s', ['a'])], all('a'), { label: '2' })).toEqual({ ...none, update: ['s:a'] }));
  test('without a placeholder all go', () =>
    expect(pack([slice('s', ['a'])], [], { placeholder: false })).toEqual({ ...none, remove: ['s:a'] }));
});

test('ports are the same in any order, with or without what is implied', () => {
  const a: EndpointPort = { name: 'a', port: 1, protocol: 'TCP' };
  expect(portsKey([a, { port: 2 }])).toBe(portsKey([{ name: '', protocol: 'TCP', port: 2 }, a]));
  expect(portsKey([a])).not.toBe(portsKey([{ ...a, port: 2 }]));
});
