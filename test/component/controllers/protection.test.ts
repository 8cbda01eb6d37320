// Ranges of cluster IPs and classes of volume attributes over the real apiserver in virtual time: made ready or protected, kept while used.
import { afterEach, describe, expect, it } from 'vitest';
import type { PersistentVolumeClaim } from '#api/core/v1';
import type { IPAddress, ServiceCIDR } from '#api/networking/v1';
import type { VolumeAttributesClass } from '#api/storage/v1';
import { createControllers, defaultControllersConfig } from '#controllers';
import { isNotFound } from '#apimachinery/errors';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import { startTestControlPlane, type TestControlPlane, virtualClock } from '#testing';

const named = (group: string, resource: string): GroupVersionResource => ({ group, version: 'v1', resource });
const ranges = named('networking.k8s.io', 'servicecidrs');
const addresses = named('networking.k8s.io', 'ipaddresses');
const classes = named('storage.k8s.io', 'volumeattributesclasses');
const claims = named('', 'persistentvolumeclaims');

const clock = virtualClock();
let plane: TestControlPlane;
afterEach(() => plane.stop());

async function start(name: string): Promise<void> {
  const controllers = createControllers(defaultControllersConfig).filter((loop) => loop.name === name);
  expect(controllers).toHaveLength(1);
  plane = await startTestControlPlane({ clock, controllers });
  await plane.client.resource(named('', 'namespaces')).create({ metadata: { name: 'one' } });
  await clock.advance(1_000);
}
const on = <T extends KubeObject>(resource: GroupVersionResource) =>
  plane.client.resource<T>(resource, resource === claims ? 'one' : undefined);
const find = <T extends KubeObject>(resource: GroupVersionResource, name: string): Promise<T | undefined> =>
  on<T>(resource)
    .get(name)
    .catch((error: unknown) => {
      if (isNotFound(error as Error)) return undefined;
      throw error;
    });

describe('a range of cluster IPs', () => {
  const make = (name: string, ...cidrs: string[]) => on<ServiceCIDR>(ranges).create({ metadata: { name }, spec: { cidrs } });
  const give = (name: string) =>
    on<IPAddress>(addresses).create({
      metadata: {
        name,
        labels: { 'ipaddress.kubernetes.io/ip-family': 'IPv4', 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' },
      },
      spec: { parentRef: { resource: 'services', namespace: 'one', name: 'web' } },
    });
  const says = async (name: string): Promise<string> =>
    ((await find<ServiceCIDR>(ranges, name))?.status?.conditions ?? [])
      .map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`)
      .join();
  const terminating =
    'Ready False Terminating: There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR';

  it('is ready and protected, and stays while an address is only in it', async () => {
    await start('service-cidr-controller');
    await make('extra', '10.97.0.0/24');
    await clock.advance(1_000);
    expect(await says('extra')).toBe('Ready True : Kubernetes Service CIDR is ready');
    expect((await find(ranges, 'extra'))?.metadata.finalizers).toEqual(['networking.k8s.io/service-cidr-finalizer']);

    await give('10.97.0.9');
    await on(ranges).delete('extra');
    await clock.advance(60_000);
    expect(await says('extra')).toBe(terminating);
    await on(addresses).delete('10.97.0.9');
    await clock.advance(5_000);
    expect(await find(ranges, 'extra')).toBeUndefined();
  });

  it('goes after ten seconds when another range has all of it', async () => {
    await start('service-cidr-controller');
    await make('extra', '10.97.0.0/24');
    await give('10.97.0.9');
    await clock.advance(1_000);
    await on(ranges).delete('extra');
    await clock.advance(60_000);
    expect(await says('extra')).toBe(terminating);
    await make('wide', '10.97.0.0/16');
    await clock.advance(1_000);
    expect(await find(ranges, 'extra')).toBeUndefined();

    await make('narrow', '10.97.1.0/24');
    await clock.advance(1_000);
    await on(ranges).delete('narrow');
    await clock.advance(8_000);
    expect(await find(ranges, 'narrow')).toBeDefined();
    await clock.advance(4_000);
    expect(await find(ranges, 'narrow')).toBeUndefined();
  });
});

it('a class of volume attributes stays while a claim names it', async () => {
  await start('volumeattributesclass-protection-controller');
  for (const name of ['gold', 'silver'])
    await on<VolumeAttributesClass>(classes).create({
      metadata: { name },
      driverName: 'csi.example.com',
      parameters: { iops: '1' },
    });
  const resources = { requests: { storage: '1Gi' } };
  await on<PersistentVolumeClaim>(claims).create({
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources, volumeAttributesClassName: 'gold' },
  });
  await clock.advance(1_000);
  expect((await find(classes, 'gold'))?.metadata.finalizers).toEqual(['kubernetes.io/vac-protection']);
  for (const name of ['gold', 'silver']) await on(classes).delete(name);
  await clock.advance(1_000);
  expect([await find(classes, 'gold'), await find(classes, 'silver')].map((one) => one !== undefined)).toEqual([true, false]);
  await on(claims).delete('data');
  await clock.advance(1_000);
  expect(await find(classes, 'gold')).toBeUndefined();
});
