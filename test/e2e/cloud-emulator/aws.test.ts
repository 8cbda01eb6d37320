// `sagong up --cloud-provider-emulator aws`: the provider for AWS on the emulated AWS, with real instances, routes and load balancers.
import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAll } from '#cloud/client';
import { CloudWorld, patienceMs, podOf, reachable, unreachable } from '../cloud/world.ts';
import { eventually } from '../cluster/harness.ts';

const annotation = (name: string): string => `service.beta.kubernetes.io/aws-load-balancer-${name}`;
const [first, second] = ['ip-10-77-0-11.local-1.compute.internal', 'ip-10-77-16-11.local-1.compute.internal'];
let world: CloudWorld;

beforeAll(async () => {
  world = await CloudWorld.create(2, '--cloud-provider-emulator', 'aws');
});
afterAll(async () => {
  await world?.destroy();
});

/** The name in the status of a Service, once it has one. */
const hostnameOf = (name: string): Promise<string> =>
  eventually(
    `the name of ${name}`,
    async () => (await world.getService(name)).status?.loadBalancer?.ingress?.[0]?.hostname,
    patienceMs,
  );
/** What the cloud's own name server says of a name, as this machine asks it. */
async function addressOf(hostname: string): Promise<string> {
  const outside = (await world.balancers()).find(({ scheme }) => scheme === 'internet-facing')?.address ?? '';
  const resolver = new Resolver({ timeout: 2_000, tries: 3 });
  resolver.setServers([outside.replace(/\d+$/, '2')]);
  const [address = ''] = await resolver.resolve4(hostname);
  return address;
}
const node = async (name: string) => {
  const found = await world.node(name);
  if (!found) throw new Error(`no Node ${name}`);
  return found;
};
/** Everything that a manager makes for Services. */
async function leftovers(): Promise<string[]> {
  const balancers = await world.balancers();
  const groups = await listAll((page) => world.api.listSecurityGroups(page));
  const zones = await listAll((page) => world.api.listDnsZones(page));
  return [
    ...balancers.map(({ name }) => name),
    ...groups.flatMap(({ name, ingress }) => [
      ...(name.startsWith('k8s-') ? [name] : []),
      ...ingress.filter(({ description = '' }) => /rule\/nlb/.test(description)).map(({ description }) => String(description)),
      ...ingress
        .filter(({ groupId }) => groupId !== undefined && !groups.some(({ id }) => id === groupId))
        .map(() => 'a rule to nowhere'),
    ]),
    ...zones.filter(({ name }) => name.endsWith('amazonaws.com')).flatMap(({ records }) => records.map(({ name }) => name)),
  ];
}

describe('a cluster on the emulated AWS', () => {
  it('has Nodes with what EC2 knows of their instances, and routes to their pods', async () => {
    const instances = new Map((await listAll((page) => world.api.listInstances(page))).map((one) => [one.name, one]));
    for (const [name, zone] of [
      [first, 'local-1a'],
      [second, 'local-1b'],
    ] as const) {
      const { metadata, spec, status } = await node(name);
      const instance = instances.get(name);
      expect(spec?.providerID).toBe(`aws:///${zone}/${instance?.id}`);
      expect(metadata.labels).toMatchObject({
        'topology.kubernetes.io/zone': zone,
        'topology.kubernetes.io/region': 'local-1',
        'node.kubernetes.io/instance-type': 'local.small',
      });
      expect(status?.addresses).toContainEqual({ type: 'InternalDNS', address: name });
      expect(spec?.taints ?? []).toEqual([]);
      const [table] = (await world.api.listRouteTables({ vpcId: instance?.vpcId, main: 'true' })).items;
      expect(table?.routes).toContainEqual(
        expect.objectContaining({ destination: spec?.podCIDR, target: { kind: 'instance', id: instance?.id } }),
      );
    }
  });

  it('gives a Service a classic load balancer: its name resolves and answers, outside and in pods, to whom the Service lets in', async () => {
    await world.apply(world.backends('DaemonSet', 'web'), world.service('web'));
    await world.kubectl('rollout', 'status', 'daemonset/web', '--timeout', '55s');
    const hostname = await hostnameOf('web');
    expect(hostname).toMatch(/^a[0-9a-f]{31}-\d+\.local-1\.elb\.amazonaws\.com$/);
    const address = await addressOf(hostname);
    expect(podOf(await reachable(address, 80, 'web'))).toMatch(/^web-/);
    const [pod] = await world.podsReady('web');
    await eventually(
      'an answer by name, in a pod',
      async () => (await world.askFromPod(pod?.metadata.name ?? '', hostname)).startsWith('web-'),
      patienceMs,
    );
    await world.patch('service', 'web', { spec: { loadBalancerSourceRanges: ['192.0.2.0/24'] } });
    await unreachable(address);
    await world.patch('service', 'web', { spec: { loadBalancerSourceRanges: null } });
    await reachable(address, 80, 'web');
  });

  it('gives a Service a network load balancer by annotation, for TCP and UDP', async () => {
    const type = { [annotation('type')]: 'nlb' };
    const ports = (protocol: string) => ({ ports: [{ port: 80, protocol, targetPort: 8080 }] });
    await world.apply(world.backends('Deployment', 'net', { replicas: 2 }), world.service('net', ports('TCP'), type), {
      ...world.service('net-udp', { ...ports('UDP'), selector: { app: 'net' } }, type),
    });
    const hostname = await hostnameOf('net');
    expect(hostname).toMatch(/\.elb\.local-1\.amazonaws\.com$/);
    await reachable(await addressOf(hostname), 80, 'net');
    const udp = await world.udpClient();
    await udp.reachable(await addressOf(await hostnameOf('net-udp')), 80, 'net');
  });

  it('shows a stopped instance as shut down, and forgets a terminated one', async () => {
    await world.cluster.sagong('node', 'stop', second);
    await eventually(
      'the taint of a machine that is off',
      async () => (await node(second)).spec?.taints?.some(({ key }) => key === 'node.cloudprovider.kubernetes.io/shutdown'),
      90_000,
    );
    await world.cluster.sagong('node', 'terminate', second);
    await eventually('the Node is gone', async () => (await world.node(second)) === undefined, 90_000);
    await eventually('its targets are gone', async () => (await world.balancer('web')).targets.length === 1, patienceMs);
    await reachable(await addressOf(await hostnameOf('web')), 80, 'web');
  });

  it('leaves nothing of Services that are deleted', async () => {
    await world.kubectl('delete', 'service', 'web', 'net', 'net-udp', '--timeout', '55s');
    expect(await leftovers()).toEqual([]);
  });

  it('leaves nothing on the machine after sagong down', async () => {
    expect(await world.traces()).not.toEqual([]);
    expect((await world.cluster.sagong('down')).code).toBe(0);
    expect(await world.traces()).toEqual([]);
  });
});
