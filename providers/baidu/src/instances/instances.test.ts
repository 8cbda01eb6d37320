import { isInstanceNotFound, type Node } from 'sagong/cloud-provider';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { region } from '../../test-server/index.ts';
import { type OpenOptions, openWorld, type TestWorld } from '../../test-server/world.ts';

let world: TestWorld;
beforeEach(async () => void (world = await openWorld()));
afterEach(() => world.server.close());

const instances = async (options: OpenOptions = {}) => {
  const { instancesV2 } = await world.open(options);
  if (!instancesV2) throw new Error('the provider has instances');
  return instancesV2;
};
const named = (name: string, more: Partial<Node> = {}): Node => ({ metadata: { name }, spec: {}, ...more });
const withId = (id: string): Node => named('any', { spec: { providerID: `cce://${id}` } });

describe('a Node', () => {
  it('is known by its host name, with type, zone, region and addresses', async () => {
    const { id, internalIp } = world.server.account.addInstance('node-a', { publicIp: '106.12.0.1' });
    expect(await (await instances()).instanceMetadata(named('node-a'))).toEqual({
      providerId: `cce://${id}`,
      instanceType: 'BCC',
      zone: 'cn-bj-a',
      region,
      nodeAddresses: [
        { type: 'InternalIP', address: internalIp },
        { type: 'ExternalIP', address: '106.12.0.1' },
        { type: 'Hostname', address: internalIp },
      ],
    });
  });
  it('has an IPv6 address and the type GPU, where its instance has them', async () => {
    world.server.account.addInstance('node-a', { ipv6: '240c:4081::1', gpuCard: 'nTeslaV100-32' });
    const known = await (await instances()).instanceMetadata(named('node-a'));
    expect(known?.instanceType).toBe('GPU');
    expect(known?.nodeAddresses).toContainEqual({ type: 'InternalIP', address: '240c:4081::1' });
  });
  it('is known by its name in the console, or by the address that it is called after', async () => {
    const { id, internalIp } = world.server.account.addInstance('console-name', { hostname: 'host' });
    const v2 = await instances();
    for (const name of ['host', 'console-name', internalIp])
      expect(await v2.instanceMetadata(named(name))).toMatchObject({ providerId: `cce://${id}` });
  });
  it('is not guessed where two instances have its name', async () => {
    for (const status of ['Running', 'Stopped']) world.server.account.addInstance('node-a', { status });
    await expect((await instances()).instanceExists(named('node-a'))).rejects.toThrow('several instances are called node-a: i-');
  });
  it('is looked for in the VPC of the cluster only, by default that of the master', async () => {
    const { account } = world.server;
    const master = account.addInstance('master', { vpcId: 'vpc-other' });
    account.addInstance('node-a');
    account.addInstance('node-b', { vpcId: 'vpc-other' });
    const ofMaster = await instances({ config: { VpcId: '', MasterId: master.id } });
    expect([await ofMaster.instanceExists(named('node-a')), await ofMaster.instanceExists(named('node-b'))]).toEqual([
      false,
      true,
    ]);
    const lost = await instances({ config: { VpcId: '', MasterId: 'i-none' } });
    await expect(lost.instanceExists(named('node-b'))).rejects.toThrow('there is no instance i-none, which MasterId names');
  });
  it.each([
    ['Running', true, false],
    ['Starting', true, false],
    ['Stopping', true, true],
    ['Stopped', true, true],
    ['Expired', true, true],
    ['Error', true, false],
    ['Recycled', false, undefined],
    ['Deleted', false, undefined],
  ])('whose instance is %s exists: %s, and is shut down: %s', async (status, exists, down) => {
    const { id } = world.server.account.addInstance('node-a', { status });
    const v2 = await instances();
    expect(await v2.instanceExists(withId(id))).toBe(exists);
    if (down === undefined) await expect(v2.instanceShutdown(withId(id))).rejects.toSatisfy(isInstanceNotFound);
    else expect(await v2.instanceShutdown(withId(id))).toBe(down);
  });
  it('exists for as long as the API does not say that it does not', async () => {
    const { id } = world.server.account.addInstance('node-a');
    const v2 = await instances();
    world.server.faults.add({ status: 403, code: 'AccessDenied', times: 2 });
    await expect(v2.instanceExists(withId(id))).rejects.toThrow('GetInstance: [403 AccessDenied]');
    await expect(v2.instanceExists(named('node-a'))).rejects.toThrow('ListInstances: [403 AccessDenied]');
    for (const providerID of ['aws:///us-east-1a/i-1', 'cce://', 'cce://../v1/blb', 'cce://..', 'i-1'])
      await expect(v2.instanceExists(named('node-a', { spec: { providerID } }))).rejects.toThrow('parse ProviderID failed');
  });
  it('costs one list for many', async () => {
    const ids = Array.from({ length: 40 }, (_, number) => world.server.account.addInstance(`node-${number}`).id);
    const v2 = await instances();
    await Promise.all(ids.map((id) => v2.instanceMetadata(withId(id))));
    expect(world.server.requests).toHaveLength(1);
  });
});
