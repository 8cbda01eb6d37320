import { expect, test } from 'vitest';
import type { APIService } from '#api/apiregistration/v1';
import { fromLegacy, isAggregatedType, resourcesByVersion } from './documents.ts';
import { DecodeError } from '#apimachinery/schema';
import { mergedGroups } from './groups.ts';
import { identityHeaders } from './identity.ts';
import { remoteFrom, type Remote } from './remotes.ts';

const remote = (group: string, version: string, groupPriorityMinimum: number, versionPriority: number): Remote => {
  const service = { namespace: 'n', name: 's' };
  const spec = { group, version, groupPriorityMinimum, versionPriority, service };
  return remoteFrom({ metadata: { name: `${version}.${group}` }, spec }) as Remote;
};
const locals = [
  { group: '', versions: ['v1'] },
  { group: 'apiregistration.k8s.io', versions: ['v1'] },
  { group: 'apps', versions: ['v1'] },
  { group: 'mine.example.com', versions: ['v2', 'v1'] },
];
const priorities: Record<string, [number, number]> = { 'v1.apps': [17_800, 15] };
const specOf = (group: string, version: string): APIService['spec'] => {
  const [groupPriorityMinimum, versionPriority] = priorities[`${version}.${group}`] ?? [];
  return groupPriorityMinimum === undefined || versionPriority === undefined
    ? undefined
    : { group, version, groupPriorityMinimum, versionPriority };
};
const names = (remotes: Remote[]): string[] =>
  mergedGroups(locals, remotes, specOf).map(({ group, versions }) => `${group}: ${versions.join(' ')}`);

test('groups and versions stand by priority, the registration first', () => {
  expect(mergedGroups(locals, [], specOf)).toBe(locals);
  const others = [
    remote('a.example.com', 'v1beta1', 18_000, 10),
    remote('a.example.com', 'v1', 100, 10),
    remote('a.example.com', 'v2alpha1', 100, 20),
    remote('mine.example.com', 'v3', 500, 100),
    remote('z.example.com', 'v1', 2_000, 1),
  ];
  expect(names(others)).toEqual([
    ': v1',
    'apiregistration.k8s.io: v1',
    'a.example.com: v2alpha1 v1 v1beta1',
    'apps: v1',
    'z.example.com: v1',
    'mine.example.com: v3 v2 v1',
  ]);
});

test('who the user is fits into headers', () => {
  const user = { name: 'jane', uid: '7', groups: ['a', 'b'], extra: { 'example.com/Team x': ['blue'] } };
  expect(identityHeaders(user)).toEqual({
    'x-remote-user': 'jane',
    'x-remote-uid': '7',
    'x-remote-group': ['a', 'b'],
    'x-remote-extra-example.com%2f%54eam%20x': ['blue'],
  });
});

test.each([
  ['application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList', true],
  ['application/json; v=v2beta1; as=APIGroupDiscoveryList; g=apidiscovery.k8s.io', true],
  ['application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList', false],
  ['application/json', false],
])('%s is aggregated discovery: %s', (type, wanted) => {
  expect(isAggregatedType(type)).toBe(wanted);
});

test('a legacy list becomes the aggregated form, also of a subresource alone', () => {
  const resources = [
    { name: 'things/scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: ['get'], namespaced: true },
    { name: 'things', kind: 'Thing', verbs: ['list'], namespaced: true, shortNames: ['th'] },
    { name: 'alone/status', kind: 'Alone', verbs: ['get'] },
  ];
  const kind = { group: '', version: '' };
  expect(fromLegacy(JSON.stringify({ groupVersion: 'a/v1', resources }))).toMatchObject([
    {
      resource: 'things',
      responseKind: { ...kind, kind: 'Thing' },
      scope: 'Namespaced',
      shortNames: ['th'],
      subresources: [{ subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } }],
    },
    { resource: 'alone', scope: 'Cluster', subresources: [{ subresource: 'status' }] },
  ]);
});

test.each([
  'null',
  '[]',
  '"x"',
  '{"resources":5}',
  '{"resources":[null,5]}',
  '{"resources":[{"name":5}]}',
  '{"resources":[{"name":"a","verbs":"get"}]}',
  '{"items":[{"metadata":[]}]}',
  '{"items":[{"versions":{"a":1}}]}',
  '{"items":[{"versions":[{"version":"v1","resources":[{"resource":{},"verbs":7}]}]}]}',
  '['.repeat(100_000),
])('what another server says of its resources is read by its type: %#', (text) => {
  const outcome = (read: () => Iterable<unknown>): unknown[] => {
    try {
      return [...read()];
    } catch (error) {
      expect(error).toBeInstanceOf(DecodeError);
      return [];
    }
  };
  expect(outcome(() => fromLegacy(text)).every((one) => typeof (one as { resource: unknown }).resource === 'string')).toBe(true);
  expect(outcome(() => resourcesByVersion(text))).toEqual([]);
});
