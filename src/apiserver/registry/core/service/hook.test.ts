import { expect, test } from 'vitest';
import type { Service, ServiceSpec } from '#api/core/v1';
import type { UnknownObject } from '#apimachinery/meta';
import { seededRng, silentLogger } from '#utils';
import { MemoryCluster } from '../../test-support/memory-cluster.ts';
import { ownRequest } from '../../../request/own.ts';
import { addressRange, addressValue, formatAddress } from './addresses.ts';
import type { HookedWrite } from '../../generic/storage-hook.ts';
import { serviceHook } from './hook.ts';

const settings = { rest: () => undefined } as HookedWrite['settings'];

function setUp(serviceCidrs = ['10.96.0.0/16']) {
  const cluster = new MemoryCluster();
  const hook = serviceHook({ cluster, writer: cluster, rng: seededRng(1), logger: silentLogger, serviceCidrs });
  const target = { group: '', version: 'v1', resource: 'services', subresource: '', namespace: 'ns', name: '' };
  const context = { request: ownRequest({ name: 'u', groups: [] }, 'create', target, 0), target, dryRun: false, settings };
  const create = async (name: string, spec: ServiceSpec, dryRun = false): Promise<Service> => {
    const draft = {
      metadata: { name, namespace: 'ns' },
      spec: { type: 'ClusterIP', ports: [{ port: 80 }], ...structuredClone(spec) },
    };
    const finish = await hook.beginCreate?.(draft as unknown as UnknownObject, { ...context, dryRun });
    const stored = dryRun ? (draft as Service) : cluster.put('', 'services', draft as Service);
    await finish?.(!dryRun);
    return stored;
  };
  const update = async (old: Service, change: Partial<ServiceSpec>, committed = true): Promise<Service> => {
    const draft = { ...structuredClone(old), spec: { ...structuredClone(old.spec), ...change } } as Service;
    const finish = await hook.beginUpdate?.(draft as unknown as UnknownObject, old as unknown as UnknownObject, context);
    const stored = committed ? cluster.put('', 'services', draft) : draft;
    await finish?.(committed);
    return stored;
  };
  const addresses = () => cluster.list('networking.k8s.io', 'ipaddresses').map(({ metadata }) => metadata.name);
  return { cluster, hook, context, create, update, addresses };
}

test.each([
  ['10.96.0.1', 'IPv4'],
  ['fd00::1', 'IPv6'],
  ['::', 'IPv6'],
  ['2001:db8:0:1:1:1:1:1', 'IPv6'],
] as const)('address %s survives', (text, family) => {
  expect(formatAddress(addressValue(text), family)).toBe(text);
});

test('a range leaves out network and broadcast, and keeps its lower part for requests', () => {
  const range = addressRange('10.96.0.0/24');
  expect([range.first, range.last, range.dynamicFirst].map((value) => formatAddress(value, 'IPv4'))).toEqual([
    '10.96.0.1',
    '10.96.0.254',
    '10.96.0.17',
  ]);
});

test('a service gets an address of the dynamic part, recorded as an IPAddress, and gives it back', async () => {
  const { create, addresses, hook, context } = setUp();
  const service = await create('a', { type: 'ClusterIP' });
  expect(service.spec).toMatchObject({
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    clusterIPs: [service.spec?.clusterIP],
  });
  expect(addressValue(service.spec?.clusterIP ?? '')).toBeGreaterThan(addressValue('10.96.1.0'));
  expect(addresses()).toEqual([service.spec?.clusterIP]);
  await hook.afterDelete?.(service as unknown as UnknownObject, context);
  expect(addresses()).toEqual([]);
});

test.each([
  [
    { clusterIP: '10.97.0.1' },
    'spec.clusterIPs: Invalid value: ["10.97.0.1"]: failed to allocate IP 10.97.0.1: the provided network does not match the current range',
  ],
  [
    { clusterIP: '10.96.0.0' },
    'failed to allocate IP 10.96.0.0: the provided IP (10.96.0.0) is not in the valid range. The range of valid IPs is 10.96.0.0/16',
  ],
  [{ clusterIP: '10.96.0.9' }, 'failed to allocate IP 10.96.0.9: provided IP is already allocated'],
  [{ clusterIP: 'fd00::1' }, 'IPv6 is not configured on this cluster'],
  [{ ipFamilyPolicy: 'RequireDualStack' }, 'this cluster is not configured for dual-stack services'],
  [
    { type: 'NodePort', ports: [{ port: 80, nodePort: 31000 }] },
    'spec.ports[0].nodePort: Invalid value: 31000: provided port is already allocated',
  ],
  [
    { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] },
    'provided port is not in the valid range. The range of valid ports is 30000-32767',
  ],
] as [ServiceSpec, string][])('refuses %j', async (spec, message) => {
  const { create, addresses } = setUp();
  await create('a', { type: 'NodePort', clusterIP: '10.96.0.9', ports: [{ port: 80, nodePort: 31000 }] });
  await expect(create('b', spec)).rejects.toThrow(message);
  expect(addresses()).toEqual(['10.96.0.9']);
});

test('dual stack', async () => {
  const { create, update, addresses } = setUp(['10.96.0.0/16', 'fd00::/112']);
  const service = await create('a', { ipFamilyPolicy: 'PreferDualStack' });
  expect(service.spec?.ipFamilies).toEqual(['IPv4', 'IPv6']);
  expect(addresses()).toHaveLength(2);
  const single = await update(service, { ipFamilyPolicy: 'SingleStack' });
  expect(single.spec?.clusterIPs).toEqual([service.spec?.clusterIP]);
  expect(addresses()).toEqual([service.spec?.clusterIP]);
});

test('changes of type give back and keep', async () => {
  const { create, update, addresses } = setUp();
  const service = await create('a', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
  const port = service.spec?.ports?.[0]?.nodePort;
  expect(port).toBeGreaterThanOrEqual(30000);
  expect(service.spec?.healthCheckNodePort).toBeGreaterThanOrEqual(30000);
  const kept = await update(service, { ports: [{ port: 81 }], clusterIP: '', clusterIPs: [] });
  expect(kept.spec?.ports?.[0]?.nodePort).toBe(port);
  expect(kept.spec?.clusterIP).toBe(service.spec?.clusterIP);
  await update(kept, { type: 'ExternalName', clusterIP: undefined, clusterIPs: undefined, ports: [{ port: 81 }] });
  expect(addresses()).toEqual([]);
  expect((await create('b', { type: 'NodePort', ports: [{ port: 1, nodePort: port }] })).spec?.ports?.[0]?.nodePort).toBe(port);
});

test('a failed write and a dry run leave nothing behind', async () => {
  const { create, update, addresses, cluster } = setUp();
  await create('a', { type: 'NodePort', ports: [{ port: 80, nodePort: 31000 }] }, true);
  expect(addresses()).toEqual([]);
  const external = cluster.put<Service>('', 'services', {
    metadata: { name: 'x', namespace: 'ns' },
    spec: { type: 'ExternalName', externalName: 'y' },
  });
  await update(external, { type: 'ClusterIP' }, false);
  expect(addresses()).toEqual([]);
  await create('b', { type: 'NodePort', ports: [{ port: 80, nodePort: 31000 }] });
});
