import { isInstanceNotFound, type Node } from 'sagong/cloud-provider';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeIn, openWorld, project, region, type TestWorld, zones } from '../../test-server/world.ts';
import { nodeAddresses } from './addresses.ts';
import { hostTags } from './host-tags.ts';

let world: TestWorld;
beforeEach(async () => void (world = await openWorld()));
afterEach(() => world.server.close());
const instances = async (...settings: Parameters<TestWorld['open']>) => {
  const { instancesV2 } = await world.open(...settings);
  if (!instancesV2) throw new Error('the provider has instances');
  return instancesV2;
};
const named = (name: string): Node => ({ metadata: { name }, spec: {} });

describe('a Node', () => {
  it('is known by its name, in every zone of the region', async () => {
    world.server.projects.addInstance(project, zones[2], 'node-a', { machineType: 'n2-standard-8' });
    const found = await (await instances()).instanceMetadata(named('node-a.c.test-project.internal'));
    expect(found).toMatchObject({
      providerId: `gce://${project}/${zones[2]}/node-a`,
      instanceType: 'n2-standard-8',
      zone: zones[2],
      region,
      nodeAddresses: [
        { type: 'InternalIP', address: expect.stringMatching(/^10\.128\./) },
        { type: 'ExternalIP', address: expect.stringMatching(/^203\.0\./) },
      ],
    });
  });
  it('is looked for in the one zone of the configuration only, unless that says otherwise', async () => {
    world.server.projects.addInstance(project, zones[2], 'node-a');
    const single = await instances({ regional: false });
    expect(await single.instanceExists(named('node-a'))).toBe(false);
    expect(await single.instanceExists(nodeIn(zones[2], 'node-a'))).toBe(true);
    await expect(single.instanceMetadata(named('node-a'))).rejects.toSatisfy(isInstanceNotFound);
  });
  it.each([
    ['RUNNING', false],
    ['STOPPING', false],
    ['TERMINATED', true],
    ['SUSPENDED', true],
    ['REPAIRING', false],
  ])('whose instance is %s exists, and is shut down: %s', async (status, expected) => {
    world.server.projects.addInstance(project, zones[0], 'node-a', { status });
    const v2 = await instances();
    expect([await v2.instanceExists(named('node-a')), await v2.instanceShutdown(named('node-a'))]).toEqual([true, expected]);
  });
  it('exists for as long as the API does not say that it does not', async () => {
    world.server.faults.add({ path: /instances/, status: 403, times: 20 });
    await expect((await instances()).instanceExists(nodeIn(zones[0], 'node-a'))).rejects.toThrow('instances.get: GET');
    await expect(
      (await instances()).instanceExists({ metadata: { name: 'x' }, spec: { providerID: 'aws:///x/i-1' } }),
    ).rejects.toThrow('error splitting providerID');
  });
  it('is of the project in its provider ID only where that is to be trusted', async () => {
    world.server.projects.addProject('other-project', { [region]: zones });
    world.server.projects.addInstance('other-project', zones[0], 'node-a');
    const node: Node = { metadata: { name: 'node-a' }, spec: { providerID: `gce://other-project/${zones[0]}/node-a` } };
    expect(await (await instances()).instanceExists(node)).toBe(false);
    expect(await (await instances({}, { multiProject: true })).instanceExists(node)).toBe(true);
  });
});

describe('addresses', () => {
  const cards = [
    { networkIP: '10.0.0.1', accessConfigs: [{ natIP: '203.0.113.1' }, {}], ipv6Address: 'fd00::1' },
    { networkIP: '10.0.0.2', ipv6AccessType: 'EXTERNAL', ipv6AccessConfigs: [{ externalIpv6: '2001:db8::2' }] },
  ];
  const shown = (preferIpv6: boolean): string[] =>
    nodeAddresses({ name: 'x', networkInterfaces: cards }, preferIpv6).map(({ type, address }) => `${type} ${address}`);
  it('come interface by interface, IPv4 first', () => {
    expect(shown(false)).toEqual([
      'InternalIP 10.0.0.1',
      'ExternalIP 203.0.113.1',
      'InternalIP 10.0.0.2',
      'InternalIP fd00::1',
      'InternalIP 2001:db8::2',
    ]);
  });
  it('of a cluster of IPv6 come the other way round', () => {
    expect(shown(true).slice(0, 2)).toEqual(['InternalIP fd00::1', 'InternalIP 2001:db8::2']);
    expect(() => nodeAddresses({ name: 'x' }, false)).toThrow('could not find network interfaces');
  });
});

it('hosts are tagged as configured, else by the longest tag that begins their name', () => {
  const host = (name: string, ...tags: string[]) => ({ name, zone: 'z', tags });
  expect(hostTags({ nodeTags: ['a'] }, [host('x')])).toEqual(['a']);
  expect(
    hostTags({ nodeTags: [] }, [host('k8s-1-x', 'k8s', 'k8s-1', 'web'), host('k8s-2', 'k8s'), host('k8s-3', 'k8s')]),
  ).toEqual(['k8s', 'k8s-1']);
  expect(hostTags({ nodeTags: [] }, [])).toEqual([]);
});
