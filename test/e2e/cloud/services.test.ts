// A Service of type LoadBalancer through its life, with packets from outside of the cluster: upstream's e2e tests of the same names
// (test/e2e/network/loadbalancer.go), and what the local cloud has beside them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../cluster/harness.ts';
import { ask, CloudWorld, clientOf, patienceMs, podOf, reachable, refusedUdp, say, unreachable } from './world.ts';

const annotation = (name: string): string => `service.beta.kubernetes.io/local-load-balancer-${name}`;
const finalizer = 'service.kubernetes.io/load-balancer-cleanup';
let world: CloudWorld;

beforeAll(async () => {
  world = await CloudWorld.create(2);
});
afterAll(async () => {
  await world?.destroy();
});

const askUdp = `const [, host, port] = process.argv; const s = require('node:dgram').createSocket('udp4');
  s.on('error', () => process.exit(1)); s.on('message', (m) => { console.log(String(m)); process.exit(0); });
  s.connect(Number(port), host, () => s.send('x')); setTimeout(() => process.exit(1), 2000);`;
const nodeAddress = '10.77.0.11';
const onNode = async (port: number, protocol: 'tcp' | 'udp' = 'tcp'): Promise<string> => {
  const words =
    protocol === 'tcp'
      ? ['busybox', 'timeout', '2', 'busybox', 'wget', '-qO-', `http://${nodeAddress}:${port}/`]
      : [process.execPath, '-e', askUdp, nodeAddress, String(port)];
  return (await world.cluster.inLan(...words)).stdout.trim();
};
const nodePortOf = async (name: string): Promise<number> => (await world.getService(name)).spec?.ports?.[0]?.nodePort ?? 0;
const anotherNodePort = (nodePort: number): number => (nodePort === 32_767 ? 30_000 : nodePort + 1);

describe.concurrent('a Service of type LoadBalancer', () => {
  for (const [protocol, kind] of [
    ['TCP', 'tcp'],
    ['UDP', 'udp'],
  ] as const)
    it(`can change the type and ports of a ${protocol} service`, async () => {
      const name = `types-${kind}`;
      const udp = await world.udpClient();
      const answer = (ip: string, port: number): Promise<string> =>
        protocol === 'TCP' ? reachable(ip, port, name) : udp.reachable(ip, port, name);
      const answerOnNode = (port: number): Promise<true> =>
        eventually(`an answer on node port ${port}`, async () => (await onNode(port, kind)).startsWith(name));
      const ports = (port: number, nodePort?: number) => [
        { name: 'main', protocol, port, targetPort: 8080, ...(nodePort !== undefined && { nodePort }) },
      ];

      await world.apply(
        world.backends('Deployment', name, { replicas: 1 }),
        world.service(name, { type: 'ClusterIP', ports: ports(80) }),
      );
      await world.patch('service', name, { spec: { type: 'NodePort' } });
      const first = await nodePortOf(name);
      expect(first).toBeGreaterThan(0);
      await answerOnNode(first);

      await world.patch('service', name, { spec: { type: 'LoadBalancer' } });
      const ip = await world.ingress(name);
      expect(await nodePortOf(name)).toBe(first);
      await answer(ip, 80);

      const second = anotherNodePort(first);
      await world.patch('service', name, { spec: { ports: ports(80, second) } });
      await answerOnNode(second);
      await eventually('the old node port is closed', async () => (await onNode(first, kind)) === '');
      await answer(ip, 80);
      expect(await world.ingress(name)).toBe(ip);

      await world.patch('service', name, { spec: { ports: ports(81, second) } });
      await answer(ip, 81);
      expect(await world.ingress(name)).toBe(ip);
      expect(await nodePortOf(name)).toBe(second);
      if (protocol === 'TCP') await unreachable(ip, 80);
      else await eventually('port 80 is rejected', async () => (await refusedUdp(ip, 80)) === 'ECONNREFUSED');

      await world.scale(name, 0);
      if (protocol === 'TCP') await unreachable(ip, 81);
      else await eventually('it is rejected', async () => (await refusedUdp(ip, 81)) === 'ECONNREFUSED', patienceMs);
      await world.scale(name, 1);
      await answer(ip, 81);

      await world.patch('service', name, { spec: { type: 'ClusterIP', ports: [{ ...ports(81)[0], nodePort: 0 }] } });
      await eventually('the load balancer is gone', async () => (await world.balancersOf(name)).length === 0, patienceMs);
      await eventually('the status is empty', async () => {
        const { status } = await world.getService(name);
        return status?.loadBalancer?.ingress === undefined;
      });
      if (protocol === 'TCP') await unreachable(ip, 81);
      else await eventually('nobody answers', async () => (await udp.ask(ip, 81)) === 'nothing', patienceMs);
      await world.kubectl('delete', 'service,deployment', name, '--wait=false');
    });

  it('handles the load balancer cleanup finalizer', async () => {
    const name = 'finalizer';
    const hasFinalizer = async (): Promise<boolean> =>
      (await world.getService(name)).metadata.finalizers?.includes(finalizer) ?? false;
    await world.apply(world.service(name));
    await world.ingress(name);
    expect(await hasFinalizer()).toBe(true);
    await world.patch('service', name, { spec: { type: 'ClusterIP' } });
    await eventually('no finalizer', async () => !(await hasFinalizer()), patienceMs);
    expect(await world.balancersOf(name)).toEqual([]);
    await world.patch('service', name, { spec: { type: 'LoadBalancer' } });
    await eventually('the finalizer again', hasFinalizer, patienceMs);
    await world.ingress(name);
    await world.kubectl('delete', 'service', name, '--timeout', '50s');
    expect(await world.balancersOf(name)).toEqual([]);
    const events = await world.events(name);
    for (const reason of ['EnsuringLoadBalancer', 'EnsuredLoadBalancer', 'DeletingLoadBalancer', 'DeletedLoadBalancer'])
      expect(events).toContain(reason);
  });

  it('can do without node ports, and be given one', async () => {
    const name = 'portless';
    await world.apply(
      world.backend('portless-1', { app: name, node: 'node-2' }),
      world.service(name, { allocateLoadBalancerNodePorts: false }),
    );
    const ip = await world.ingress(name);
    expect(await nodePortOf(name)).toBe(0);
    await reachable(ip, 80, name);
    await world.patch('service', name, { spec: { allocateLoadBalancerNodePorts: true } });
    expect(await nodePortOf(name)).toBeGreaterThan(0);
    await eventually('a load balancer with the node port', async () => (await world.balancer(name)).kind === 'proxy', patienceMs);
    await reachable(ip, 80, name);
    expect(await world.ingress(name)).toBe(ip);
    await world.kubectl('delete', 'service', name, '--wait=false');
  });
});

describe.concurrent('what the local cloud has beside', () => {
  const app = 'web';
  beforeAll(async () => {
    await world.apply(world.backend('web-1', { app, node: 'node-1' }), world.backend('web-2', { app, node: 'node-2' }));
    await world.podsReady(app);
  });
  const service = (name: string, spec: Record<string, unknown> = {}, annotations: Record<string, string> = {}) =>
    world.service(name, { selector: { app }, ...spec }, annotations);
  const remove = (name: string): Promise<string> => world.kubectl('delete', 'service', name, '--timeout', '50s');

  it('TCP and UDP share an address and a port', async () => {
    const name = 'mixed';
    const ports = [
      { name: 'tcp', protocol: 'TCP', port: 80, targetPort: 8080 },
      { name: 'udp', protocol: 'UDP', port: 80, targetPort: 8080 },
    ];
    await world.apply(service(name, { ports }));
    const ip = await world.ingress(name);
    const udp = await world.udpClient();
    await reachable(ip, 80, app);
    await udp.reachable(ip, 80, app);
    expect((await world.getService(name)).status?.loadBalancer?.ingress).toEqual([
      {
        ip,
        ipMode: 'VIP',
        ports: [
          { port: 80, protocol: 'TCP' },
          { port: 80, protocol: 'UDP' },
        ],
      },
    ]);
    // One of the two goes, the other stays.
    await world.patch('service', name, { spec: { ports: ports.slice(0, 1) } });
    await eventually('UDP is rejected', async () => (await refusedUdp(ip, 80)) === 'ECONNREFUSED', patienceMs);
    expect(podOf(await ask(ip))).toMatch(/^web-/);
    await remove(name);
  });

  it('the PROXY protocol tells pods who the client is', async () => {
    const name = 'proxied';
    const ports = [{ name: 'raw', port: 80, targetPort: 8081 }];
    await world.apply(service(name, { ports }, { [annotation('proxy-protocol')]: 'v1' }));
    const ip = await world.ingress(name);
    expect((await world.getService(name)).status?.loadBalancer?.ingress?.[0]?.ipMode).toBe('Proxy');
    const header = await eventually('a header', async () => (await say(ip, 80)).startsWith('PROXY') && say(ip, 80), patienceMs);
    expect(header).toMatch(new RegExp(`^PROXY TCP4 ${await world.machineAddress(ip)} ${ip} \\d+ 80$`));
    // Pods go through the proxy as well: nobody short-circuits what would lack the header.
    const fromPod = await world.kubectl('exec', 'web-1', '--', 'sh', '-c', `echo x | timeout 3 nc ${ip} 80`);
    expect(fromPod).toMatch(new RegExp(`^PROXY TCP4 [\\d.]+ ${ip.replaceAll('.', '\\.')} \\d+ 80`));
    await remove(name);
  });

  it('an internal load balancer answers inside of the network only', async () => {
    const name = 'inside';
    await world.apply(service(name, {}, { [annotation('internal')]: 'true' }));
    const ip = await world.ingress(name);
    expect(ip).toMatch(/^10\.77\./);
    const inside = async (): Promise<string> =>
      (await world.cluster.inLan('busybox', 'timeout', '2', 'busybox', 'wget', '-qO-', `http://${ip}/`)).stdout;
    await eventually('an answer in the network', async () => (await inside()).startsWith(app), patienceMs);
    expect(podOf(await world.askFromPod('web-1', ip))).toMatch(/^web-/);
    expect(await ask(ip, 80, 1_000)).not.toMatch(/^web-/);
    // Public again: another address, and the old one is given back.
    await world.apply(service(name, {}, { [annotation('internal')]: 'false' }));
    const open = await eventually('a public address', async () => {
      const now = await world.ingress(name);
      return now !== ip && now;
    });
    await reachable(open, 80, app);
    expect(await inside()).toBe('');
    await remove(name);
  });

  it('an address asked for is given; one that is taken is refused with a reason', async () => {
    const name = 'asked';
    const { publicAddress } = await world.api.allocateAddress({});
    await world.apply(service(name, { loadBalancerIP: publicAddress }));
    expect(await world.ingress(name)).toBe(publicAddress);
    await reachable(publicAddress, 80, app);
    await world.apply({ ...world.service('late', { loadBalancerIP: publicAddress, selector: { app } }) });
    await eventually(
      'the reason',
      async () =>
        (await world.events('late')).includes('SyncLoadBalancerFailed') && (await world.events('late')).includes(publicAddress),
    );
    expect(await world.balancersOf('late')).toEqual([]);
    await remove(name);
    // A failed Service is tried again with growing pauses: the change of its spec makes it a new attempt.
    await world.patch('service', 'late', { metadata: { annotations: { again: 'now' } } });
    expect(await world.ingress('late')).toBe(publicAddress);
    expect(clientOf(await reachable(publicAddress, 80, app))).not.toBe('');
    await world.kubectl('delete', 'service', 'late', '--timeout', '50s');
  });
});
