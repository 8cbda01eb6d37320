// Namespaces, accounts and garbage collection over the real apiserver, in virtual time.
import { afterEach, describe, expect, it } from 'vitest';
import type { ConfigMap, Namespace } from '#api/core/v1';
import { createControllers, defaultControllersConfig } from '#controllers';
import { isNotFound } from '#apimachinery/errors';
import type { GroupVersionResource, KubeObject, OwnerReference } from '#apimachinery/meta';
import { startTestControlPlane, type TestControlPlane, virtualClock } from '#testing';

const namespaces: GroupVersionResource = { group: '', version: 'v1', resource: 'namespaces' };
const configMaps: GroupVersionResource = { group: '', version: 'v1', resource: 'configmaps' };
const accounts: GroupVersionResource = { group: '', version: 'v1', resource: 'serviceaccounts' };
const events: GroupVersionResource = { group: '', version: 'v1', resource: 'events' };

const clock = virtualClock();
let plane: TestControlPlane;

async function start(...names: string[]): Promise<void> {
  const all = createControllers({ ...defaultControllersConfig, rootCa: 'PEM' });
  const controllers = all.filter(({ name }) => names.includes(name));
  expect(controllers).toHaveLength(names.length);
  plane = await startTestControlPlane({ clock, controllers });
  await clock.advance(1_000);
}
afterEach(() => plane.stop());

const makeNamespace = (name: string) => plane.client.resource<Namespace>(namespaces).create({ metadata: { name } });
const absent = (resource: GroupVersionResource, namespace: string | undefined, name: string) => async (): Promise<boolean> =>
  plane.client
    .resource(resource, namespace)
    .get(name)
    .then(
      () => false,
      (error: unknown) => isNotFound(error),
    );
const makeMap = (name: string, owners: OwnerReference[] = [], finalizers: string[] = []) =>
  plane.client
    .resource<ConfigMap>(configMaps, 'one')
    .create({ metadata: { name, ownerReferences: owners, ...(finalizers.length > 0 && { finalizers }) } });
const ownerOf = (owner: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: owner.metadata.name ?? '',
  uid: owner.metadata.uid ?? '',
  ...more,
});

describe('namespaces', () => {
  it('get their default account and the root certificate', async () => {
    await start('serviceaccount-controller', 'root-ca-certificate-publisher-controller');
    await makeNamespace('one');
    await clock.advance(1_000);
    await plane.client.resource(accounts, 'one').get('default');
    expect((await plane.client.resource<ConfigMap>(configMaps, 'one').get('kube-root-ca.crt')).data).toEqual({ 'ca.crt': 'PEM' });
    await plane.client.resource(accounts, 'one').delete('default');
    await clock.advance(1_000);
    await plane.client.resource(accounts, 'one').get('default');
  });

  it('are emptied and go', async () => {
    await start('namespace-controller');
    await makeNamespace('one');
    await makeNamespace('two');
    for (let index = 0; index < 20; index++) await makeMap(`map-${index}`);
    await plane.client.resource(accounts, 'one').create({ metadata: { name: 'robot' } });
    await plane.client.resource(configMaps, 'two').create({ metadata: { name: 'stays' } });
    await plane.client.resource(namespaces).delete('one');
    await clock.advance(4_000);
    await plane.client.resource(namespaces).get('one');
    await clock.until(absent(namespaces, undefined, 'one'), 10_000);
    expect(await absent(configMaps, 'one', 'map-3')()).toBe(true);
    await plane.client.resource(configMaps, 'two').get('stays');
  });

  it('say what holds them back', async () => {
    await start('namespace-controller');
    await makeNamespace('one');
    const held = await makeMap('held', [], ['example.com/hold']);
    await plane.client.resource(namespaces).delete('one');
    await clock.advance(8_000);
    const { status } = await plane.client.resource<Namespace>(namespaces).get('one');
    const told = Object.fromEntries(
      (status?.conditions ?? []).map(({ type, status: value, message }) => [type, `${value}: ${message}`]),
    );
    expect(told).toMatchObject({
      NamespaceContentRemaining: 'True: Some resources are remaining: configmaps. has 1 resource instances',
      NamespaceFinalizersRemaining:
        'True: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
      NamespaceDeletionContentFailure: 'False: All content successfully deleted, may be waiting on finalization',
    });
    await plane.client
      .resource(configMaps, 'one')
      .patch(held.metadata.name ?? '', 'application/merge-patch+json', { metadata: { finalizers: null } });
    await clock.until(absent(namespaces, undefined, 'one'), 60_000);
  });
});

describe('garbage collection', () => {
  it('deletes dependents, and theirs, after the owner (background)', async () => {
    await start('garbage-collector-controller');
    await makeNamespace('one');
    const top = await makeMap('top');
    const middle = await makeMap('middle', [ownerOf(top)]);
    await makeMap('bottom', [ownerOf(middle)]);
    await makeMap('other');
    await plane.client.resource(configMaps, 'one').delete('top', { propagationPolicy: 'Background' });
    await clock.until(absent(configMaps, 'one', 'bottom'), 5_000);
    await plane.client.resource(configMaps, 'one').get('other');
  });

  it('keeps the owner until blocking dependents are gone (foreground)', async () => {
    await start('garbage-collector-controller');
    await makeNamespace('one');
    const top = await makeMap('top');
    const middle = await makeMap('middle', [ownerOf(top, { blockOwnerDeletion: true })]);
    await makeMap('bottom', [ownerOf(middle, { blockOwnerDeletion: true })], ['example.com/hold']);
    await plane.client.resource(configMaps, 'one').delete('top', { propagationPolicy: 'Foreground' });
    await clock.advance(5_000);
    for (const name of ['top', 'middle'])
      expect((await plane.client.resource(configMaps, 'one').get(name)).metadata.finalizers).toEqual(['foregroundDeletion']);
    await plane.client
      .resource(configMaps, 'one')
      .patch('bottom', 'application/merge-patch+json', { metadata: { finalizers: null } });
    await clock.until(absent(configMaps, 'one', 'top'), 5_000);
    expect(await absent(configMaps, 'one', 'middle')()).toBe(true);
  });

  it('leaves dependents alone (orphan)', async () => {
    await start('garbage-collector-controller');
    await makeNamespace('one');
    const top = await makeMap('top');
    await makeMap('child', [ownerOf(top)]);
    await plane.client.resource(configMaps, 'one').delete('top', { propagationPolicy: 'Orphan' });
    await clock.until(absent(configMaps, 'one', 'top'), 5_000);
    await clock.advance(60_000);
    expect((await plane.client.resource(configMaps, 'one').get('child')).metadata.ownerReferences ?? []).toEqual([]);
  });

  it('deletes what names an owner that never was, or another of the same name', async () => {
    await start('garbage-collector-controller');
    await makeNamespace('one');
    const top = await makeMap('top');
    await makeMap('wrong-uid', [ownerOf(top, { uid: 'another' })]);
    await makeMap('two-owners', [ownerOf(top), ownerOf(top, { name: 'gone', uid: 'gone' })]);
    await clock.until(absent(configMaps, 'one', 'wrong-uid'), 5_000);
    const { metadata } = await plane.client.resource(configMaps, 'one').get('two-owners');
    expect(metadata.ownerReferences?.map(({ name }) => name)).toEqual(['top']);
  });

  it('tells of an owner in another namespace', async () => {
    await start('garbage-collector-controller');
    await makeNamespace('one');
    await makeNamespace('two');
    const top = await makeMap('top');
    await plane.client.resource(configMaps, 'two').create({ metadata: { name: 'child', ownerReferences: [ownerOf(top)] } });
    await clock.until(absent(configMaps, 'two', 'child'), 5_000);
    await clock.advance(1_000);
    const told = await plane.client.resource<KubeObject & { reason?: string; message?: string }>(events, 'two').list();
    expect(told.items.map(({ reason, message }) => `${reason}: ${message}`)).toEqual([
      `OwnerRefInvalidNamespace: ownerRef [v1/ConfigMap, namespace: two, name: top, uid: ${top.metadata.uid}] does not exist in namespace "two"`,
    ]);
  });
});
