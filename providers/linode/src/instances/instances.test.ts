import { isInstanceNotFound, type Node } from 'sagong/cloud-provider';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OpenOptions, openWorld, region, type TestWorld } from '../../test-server/world.ts';
import { addressesOf, privateTest, shownAddresses } from './addresses.ts';
import { nodeNotes, notesPatch } from './node-notes.ts';

let world: TestWorld;
beforeEach(async () => void (world = await openWorld()));
afterEach(() => world.server.close());

const instances = async (options: OpenOptions = {}) => {
  const { instancesV2 } = await world.open(options);
  if (!instancesV2) throw new Error('the provider has instances');
  return instancesV2;
};
const named = (name: string, more: Partial<Node> = {}): Node => ({ metadata: { name }, spec: {}, ...more });
const withId = (id: number | string): Node => named('any', { spec: { providerID: `linode://${id}` } });

describe('a Node', () => {
  it('is known by its name, with type, region and addresses', async () => {
    const { id, ipv4, ipv6 } = world.server.account.addLinode('node-a', region, { type: 'g6-dedicated-4' });
    expect(await (await instances()).instanceMetadata(named('node-a'))).toEqual({
      providerId: `linode://${id}`,
      instanceType: 'g6-dedicated-4',
      region,
      nodeAddresses: [
        { type: 'Hostname', address: 'node-a' },
        { type: 'ExternalIP', address: ipv4[0] },
        { type: 'InternalIP', address: ipv4[1] },
        { type: 'ExternalIP', address: ipv6?.replace('/128', '') },
      ],
    });
  });
  it('is known by a public address, when its Linode has another label', async () => {
    const { id, ipv4 } = world.server.account.addLinode('lin-1', region);
    const node = named('node-a', { status: { addresses: [{ type: 'ExternalIP', address: ipv4[0] as string }] } });
    expect(await (await instances()).instanceMetadata(node)).toMatchObject({ providerId: `linode://${id}` });
    const byPrivate = named('node-b', { status: { addresses: [{ type: 'InternalIP', address: ipv4[1] as string }] } });
    expect(await (await instances()).instanceExists(byPrivate)).toBe(false);
  });
  it('in a VPC has its address there first', async () => {
    const { account } = world.server;
    const { id: vpc } = account.addVpc('k8s', region);
    const { id: subnet } = account.addSubnet(vpc, 'default', '10.0.0.0/16', '2600:3c06:2::/64');
    const other = account.addSubnet(vpc, 'other', '10.1.0.0/16');
    account.addLinode('node-a', region, { subnet });
    account.addLinode('node-b', region, { subnet: other.id });
    const v2 = await instances({ flags: { vpcNames: ['k8s'] } });
    const addresses = (await v2.instanceMetadata(named('node-a')))?.nodeAddresses.map(
      ({ type, address }) => `${type} ${address}`,
    );
    expect(addresses?.slice(1)).toEqual([
      expect.stringMatching(/^InternalIP 10\.0\./),
      expect.stringMatching(/^ExternalIP 172\.232\./),
      expect.stringMatching(/^InternalIP 192\.168\./),
      expect.stringMatching(/^InternalIP 2600:3c06:2:/),
      expect.stringMatching(/^ExternalIP 2600:3c06::f03c/),
    ]);
    await expect(v2.instanceMetadata(named('node-b'))).rejects.toThrow('has no interface in the VPCs and subnets of the cluster');
    expect(await v2.instanceExists(named('node-b'))).toBe(true);
    const both = await instances({ flags: { vpcIds: [String(vpc)], subnetIds: [String(subnet), String(other.id)] } });
    expect(await both.instanceMetadata(named('node-b'))).toBeDefined();
  });
  it.each([
    ['running', false],
    ['offline', true],
    ['shutting_down', true],
    ['stopped', true],
    ['rebooting', false],
    ['migrating', false],
  ])('whose Linode is %s exists, and is shut down: %s', async (status, expected) => {
    const { id } = world.server.account.addLinode('node-a', region, { status });
    const v2 = await instances();
    expect([await v2.instanceExists(withId(id)), await v2.instanceShutdown(withId(id))]).toEqual([true, expected]);
  });
  it('exists for as long as the API does not say that it does not', async () => {
    const { id } = world.server.account.addLinode('node-a', region);
    const v2 = await instances({ flags: { tagFilter: 'another-cluster' } });
    expect(await v2.instanceExists(withId(id))).toBe(true);
    world.server.faults.add({ status: 401, message: 'Invalid Token', times: 2 });
    await expect(v2.instanceExists(withId(id))).rejects.toThrow('GetInstance: [401] Invalid Token');
    await expect(v2.instanceExists(named('node-a'))).rejects.toThrow('ListInstances: [401] Invalid Token');
    for (const providerID of ['aws:///us-east-1a/i-1', 'linode://abc', 'linode://'])
      await expect(v2.instanceExists(named('node-a', { spec: { providerID } }))).rejects.toThrow('invalid provider ID');
    await expect(v2.instanceShutdown(withId(99))).rejects.toSatisfy(isInstanceNotFound);
  });
  it('costs one list for many', async () => {
    const ids = Array.from({ length: 40 }, (_, number) => world.server.account.addLinode(`node-${number}`, region).id);
    const v2 = await instances();
    await Promise.all(ids.map((id) => v2.instanceMetadata(withId(id))));
    expect(world.server.count()).toBe(1);
  });
});

describe('addresses', () => {
  it('are internal in private networks, but for the one that counts as external', () => {
    const isPrivate = privateTest('172.24.0.0/16');
    const all = ['10.1.2.3', '172.24.0.1', '172.25.0.1', '192.168.130.1', '172.32.0.1', '203.0.113.1', 'fd00::1', '2600::1'];
    expect(all.filter(isPrivate)).toEqual(['10.1.2.3', '172.25.0.1', '192.168.130.1', 'fd00::1']);
  });
  it('that a kubelet was told stay, and others that are gone do not', () => {
    const status = {
      addresses: [
        { type: 'InternalIP', address: '10.9.9.9' },
        { type: 'InternalIP', address: '10.8.8.8' },
        { type: 'ExternalIP', address: '203.0.113.9' },
      ],
    };
    const linode = { id: 1, label: 'a', region, type: null, status: 'running', ipv4: ['203.0.113.1'], ipv6: null, tags: [] };
    const annotations = { 'alpha.kubernetes.io/provided-node-ip': '10.9.9.9' };
    const own = addressesOf(linode, [], privateTest(''));
    expect(
      shownAddresses('a', own, named('a', { status, metadata: { name: 'a', annotations } })).map(({ address }) => address),
    ).toEqual(['a', '203.0.113.1', '10.9.9.9']);
  });
});

describe('the notes on a Node', () => {
  const linode = {
    id: 7,
    label: 'node-a',
    region,
    type: null,
    status: 'running',
    ipv4: ['203.0.113.1', '192.168.130.1'],
    ipv6: '2600:3c06::1/128',
    host_uuid: 'h-1',
    tags: [],
  };
  const metadata = {
    labels: { 'node.k8s.linode.com/host-uuid': 'h-1' },
    annotations: { 'node.k8s.linode.com/private-ip': '192.168.130.1', 'node.k8s.linode.com/public-ipv6': '2600:3c06::1/128' },
  };
  it('are its host and its addresses for NodeBalancers', () => {
    const isPrivate = privateTest('');
    expect(notesPatch(named('node-a'), linode, isPrivate)).toEqual({ metadata, spec: { providerID: 'linode://7' } });
    const node = named('node-a', { metadata: { name: 'node-a', ...metadata }, spec: { providerID: 'linode://7' } });
    expect(notesPatch(node, linode, isPrivate)).toBeUndefined();
    expect(notesPatch(node, { ...linode, host_uuid: 'h-2' }, isPrivate)).toEqual({
      metadata: { labels: { 'node.k8s.linode.com/host-uuid': 'h-2' } },
    });
    expect(notesPatch(node, { ...linode, ipv4: [], ipv6: null }, isPrivate)).toBeUndefined();
  });
  it('are compared again every few minutes, and when the Node changes', async () => {
    const found = { ...linode };
    const finder = {
      ofNode: () => Promise.resolve(found),
      asItIs: () => Promise.resolve(found),
      exists: () => Promise.resolve(true),
      all: () => Promise.resolve([found]),
      forget() {},
    };
    const controller = nodeNotes({ finder, isPrivate: privateTest(''), ttlMs: 300_000 });
    const plan = controller.reconcile(named('node-a'), 0);
    expect(plan).toMatchObject({ requeueAfterMs: 300_000, effects: [{ op: 'action', name: 'compare' }] });
    const done = await controller.actions?.['compare']?.(named('node-a'), new AbortController().signal);
    expect(done?.effects).toMatchObject([{ op: 'patch', ref: { name: 'node-a' }, body: { metadata } }]);
    expect(controller.reconcile(named('x', { spec: { providerID: 'aws:///z/i-1' } }), 0).effects).toEqual([]);
    const [watch] = controller.watches;
    const change = (object: Node, old?: Node) => [...(watch?.keys({ object, ...(old && { old }), gone: false }) ?? [])];
    expect(change(named('node-a'))).toEqual(['node-a']);
    expect(change(named('node-a', { status: { phase: 'x' } as never }), named('node-a'))).toEqual([]);
    expect(change(named('node-a', { spec: { providerID: 'linode://7' } }), named('node-a'))).toEqual(['node-a']);
  });
});
