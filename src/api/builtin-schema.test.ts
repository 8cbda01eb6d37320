import { expect, test } from 'vitest';
import { builtinGroups, builtinResources, builtinSchema } from './builtin-schema.ts';

test('every resource is of a kind that has a schema, and lists have one, too', () => {
  const schema = builtinSchema();
  const resources = builtinResources();
  expect(resources.length).toBeGreaterThan(100);
  for (const { kind, verbs, subresource } of resources) {
    expect(schema.kind(kind.group, kind.version, kind.kind), JSON.stringify(kind)).toBeDefined();
    if (subresource === '' && verbs.includes('list')) {
      expect(schema.kind(kind.group, kind.version, `${kind.kind}List`), JSON.stringify(kind)).toBeDefined();
    }
  }
});

test('subresources name the kind they take, of whatever group it is', () => {
  const find = (resource: string, subresource: string) =>
    builtinResources().find((entry) => entry.resource === resource && entry.subresource === subresource);
  expect(find('deployments', 'scale')?.kind).toEqual({ group: 'autoscaling', version: 'v1', kind: 'Scale' });
  expect(find('pods', 'eviction')?.kind).toEqual({ group: 'policy', version: 'v1', kind: 'Eviction' });
  expect(find('serviceaccounts', 'token')?.kind.kind).toBe('TokenRequest');
  expect(find('pods', '')).toMatchObject({ group: '', version: 'v1', namespaced: true, shortNames: ['po'], categories: ['all'] });
});

test('groups come in the order of /apis, preferred versions first, and only stable ones', () => {
  expect(
    builtinGroups()
      .slice(0, 3)
      .map(({ group }) => group),
  ).toEqual(['', 'apiregistration.k8s.io', 'apps']);
  const autoscaling = builtinGroups().find(({ group }) => group === 'autoscaling');
  expect(autoscaling?.versions.map(({ version }) => version)).toEqual(['v2', 'v1']);
  for (const { versions } of builtinGroups()) for (const { version } of versions) expect(version).toMatch(/^v\d+$/);
});

test('facts of a type: order, numbers, inlined structs, list keys, patch strategies, defaults', () => {
  const schema = builtinSchema();
  const field = (type: string, name: string) => schema.type(type)?.fields.find((entry) => entry.name === name);
  expect(field('io.k8s.api.core.v1.PodSpec', 'volumes')).toEqual({
    name: 'volumes',
    number: 1,
    type: 'message',
    shape: 'list',
    ref: 'io.k8s.api.core.v1.Volume',
    omitempty: true,
    listType: 'map',
    listMapKeys: ['name'],
    patchStrategy: 'merge,retainKeys',
    patchMergeKey: 'name',
    goType: '[]v1.Volume',
  });
  expect(field('io.k8s.api.core.v1.Volume', 'emptyDir')).toMatchObject({ inlined: 2, number: 2, pointer: true });
  expect(field('io.k8s.api.core.v1.ContainerPort', 'protocol')).toMatchObject({ default: 'TCP', goType: 'v1.Protocol' });
  expect(field('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', 'creationTimestamp')).toMatchObject({
    type: 'time',
    omitzero: true,
  });
  expect(schema.kind('apps', 'v1', 'DeleteOptions')?.name).toBe('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions');
});

test('every type reads, and refers only to types of the table', () => {
  const schema = builtinSchema();
  for (const name of schema.names()) {
    for (const { ref } of schema.type(name)?.fields ?? []) if (ref !== undefined) expect(schema.type(ref), ref).toBeDefined();
  }
});
