// Load balancers whose packets are led by rules: kind `network`, and UDP of kind `proxy`.
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HealthCheck, routerNetns } from '#cloud/model';
import { BalancedWorld, briefMs, firstLine, mayTest, spread } from './load-balancers-world.ts';
import { run } from './machine-world.ts';

const healthCheck: HealthCheck = {
  protocol: 'tcp',
  port: 10256,
  intervalMs: 300,
  timeoutMs: 2_000,
  healthyThreshold: 1,
  unhealthyThreshold: 2,
};

describe.skipIf(mayTest)(`routed load balancers${mayTest ? ` (${mayTest})` : ''}`, () => {
  let world: BalancedWorld;
  beforeEach(async () => {
    world = await BalancedWorld.create('one', 'two', 'three');
  });
  afterEach(async () => {
    await world?.destroy();
    expect((await world?.leftovers()) ?? '').toBe('');
  });
  /** One of kind `network` with instances that take its address as theirs and answer on port 80. */
  async function network(names: string[], more: Partial<Parameters<BalancedWorld['balancer']>[1]> = {}) {
    const balancer = world.balancer(1, {
      kind: 'network',
      listeners: [
        { protocol: 'tcp', port: 80 },
        { protocol: 'udp', port: 80 },
      ],
      targets: world.to(...names),
      ...more,
    });
    for (const name of names) {
      await world.own(name, balancer.address);
      await world.serve(name, 80);
      await world.serveUdp(name, 80, balancer.address);
    }
    await world.put(balancer);
    return balancer;
  }

  it('network: keep the addresses of clients, inside and outside', async () => {
    const { id, address } = await network(['one', 'two']);
    expect(world.state(id)).toBe('active');
    expect(world.masters()).toEqual([]);
    expect(await spread(6, () => world.ask('three', address, 80), 2)).toEqual(['one 10.20.1.13', 'two 10.20.1.13']);
    const outside = await world.machineAddress();
    expect(await spread(6, () => world.ask(undefined, address, 80), 2)).toEqual([`one ${outside}`, `two ${outside}`]);
    const udp = await world.udpClient('three', 5353);
    const first = await udp.ask(address, 80);
    expect(first).toMatch(/^(one|two) 10\.20\.1\.13$/);
    // A connection stays with its target.
    expect(await spread(6, () => udp.ask(address, 80))).toEqual([first]);
    expect(await world.ask('three', address, 81)).toBe('ECONNREFUSED');
    // A pod as the client, whose address only its node knows.
    await world.cloud.inside('i-three', 'ip', 'addr', 'add', '10.244.3.7/32', 'dev', 'lo');
    world.cloud.routes('a', {
      destination: '10.244.3.0/24',
      target: { kind: 'instance', id: 'i-three' },
      state: 'active',
      name: 'pods',
    });
    await world.cloud.realise();
    expect(await world.askAs('three', '10.244.3.7', address, 80)).toMatch(/ 10\.244\.3\.7$/);
  });

  it('network: open connections live through changes of other targets, and of their own while it drains', async () => {
    const { id, address } = await network(['one', 'two', 'three']);
    const sockets: Socket[] = [];
    const openOne = async (): Promise<string> => {
      const socket = await world.open(undefined, address, 80);
      sockets.push(socket);
      return (await firstLine(socket)).split(' ')[0] ?? '';
    };
    expect(await spread(12, openOne, 3)).toHaveLength(3);
    for (const names of [['one', 'two'], ['two', 'three'], ['three'], ['one', 'two', 'three']]) {
      await world.put({ ...world.balancer(1, { ...world.cloud.world.loadBalancers.get(id), targets: world.to(...names) }) });
      for (const socket of sockets) socket.write('ping\n');
      expect(await Promise.all(sockets.map((socket) => firstLine(socket)))).toEqual(sockets.map(() => 'ping'));
    }
    // The machine of one of them fails: new connections go to others at once.
    await world.cloud.change('i-two', { state: 'stopped' });
    await world.realise();
    expect(await spread(10, async () => (await world.ask(undefined, address, 80)).split(' ')[0] ?? '', 2)).toEqual([
      'one',
      'three',
    ]);
  });

  it('network: without healthy targets, TCP is reset and UDP rejected', async () => {
    const health = await Promise.all(['one', 'two'].map(async (name) => (await world.inside(name)).listen('0.0.0.0', 10256)));
    const { id, address } = await network(['one', 'two'], { healthCheck });
    await world.untilHealth(id, 'healthy healthy');
    expect(await world.ask(undefined, address, 80)).toMatch(/^(one|two) /);
    for (const server of health) server.close();
    await world.untilHealth(id, 'unhealthy unhealthy');
    expect(await world.ask(undefined, address, 80)).toBe('ECONNREFUSED');
    expect(await world.refusedUdp(address, 80)).toBe('ECONNREFUSED');
    expect(await world.refusedUdp(address, 81)).toBe('ECONNREFUSED');
  });

  it('network: take only whom the source ranges name, TCP and UDP', async () => {
    const { address, id } = await network(['one', 'two'], { sourceRanges: ['10.20.1.13/32'] });
    const udp = await world.udpClient('three');
    expect(await world.ask('three', address, 80)).toContain(' 10.20.1.13');
    expect(await udp.ask(address, 80)).toContain(' 10.20.1.13');
    expect(await world.ask(undefined, address, 80, briefMs)).toBe('connect timed out');
    const set = (...sourceRanges: string[]) =>
      world.put({ ...world.balancer(1, { ...world.cloud.world.loadBalancers.get(id), sourceRanges }) });
    await set('192.0.2.0/24');
    // Also those that were let in before.
    expect(await udp.ask(address, 80, briefMs)).toBe('nothing');
    await set('0.0.0.0/1', '128.0.0.0/1');
    expect(await udp.ask(address, 80)).toContain(' 10.20.1.13');
    expect(await world.ask(undefined, address, 80)).toMatch(/^(one|two) /);
  });

  it('network: keep a client with its target when asked to, whatever its port', async () => {
    const { id, address } = await network(['one', 'two', 'three'], { affinityTimeoutSeconds: 30 });
    const first = await world.ask(undefined, address, 80);
    expect(await spread(10, () => world.ask(undefined, address, 80))).toEqual([first]);
    const [owner = ''] = first.split(' ');
    // Others go and come, and the client stays.
    await world.put({ ...world.balancer(1, { ...world.cloud.world.loadBalancers.get(id), targets: world.to(owner) }) });
    await world.put({
      ...world.balancer(1, { ...world.cloud.world.loadBalancers.get(id), targets: world.to('one', 'two', 'three') }),
    });
    expect(await spread(10, () => world.ask(undefined, address, 80))).toEqual([first]);
    // Its own goes: it gets another.
    const others = ['one', 'two', 'three'].filter((name) => name !== owner);
    await world.put({ ...world.balancer(1, { ...world.cloud.world.loadBalancers.get(id), targets: world.to(...others) }) });
    const second = await world.ask(undefined, address, 80);
    expect(others).toContain(second.split(' ')[0]);
    expect(await spread(6, () => world.ask(undefined, address, 80))).toEqual([second]);
  });

  it('proxy: TCP and UDP share an address, each in its own way', async () => {
    for (const name of ['one', 'two']) {
      await world.serve(name, 30053);
      await world.serveUdp(name, 30054);
    }
    const listeners = [
      { protocol: 'tcp' as const, port: 53, targetPort: 30053 },
      { protocol: 'udp' as const, port: 53, targetPort: 30054 },
    ];
    const { address, id } = await world.put(world.balancer(1, { listeners, targets: world.to('one', 'two') }));
    expect(await spread(6, () => world.ask(undefined, address, 53), 2)).toEqual(['one 10.20.1.1', 'two 10.20.1.1']);
    const askFrom = async (name: string): Promise<string> => (await world.udpClient(name)).ask(address, 53);
    expect(await spread(8, () => askFrom('three'), 2)).toEqual(['one 10.20.1.13', 'two 10.20.1.13']);
    // A target that is its own client sees the router instead of itself.
    const own = await world.udpClient('one');
    expect(await own.ask(address, 53)).toMatch(/^(one|two) 10\.20\./);
    expect(await spread(6, () => askFrom('one'), 2)).toEqual([expect.stringMatching(/^one 10\.20\.\d\.[12]$/), 'two 10.20.1.11']);
    // Affinity over all ports of a client.
    await world.put({ ...world.balancer(1, { listeners, targets: world.to('one', 'two'), affinityTimeoutSeconds: 30 }), id });
    const sticky = await Promise.all(Array.from({ length: 6 }, () => world.udpClient('three')));
    expect(
      await spread(1, async () => String(new Set(await Promise.all(sticky.map((client) => client.ask(address, 53)))).size)),
    ).toEqual(['1']);
    await world.put({
      ...world.balancer(1, { listeners, targets: world.to('one', 'two'), sourceRanges: ['10.20.1.11/32'] }),
      id,
    });
    expect(await sticky[0]?.ask(address, 53, briefMs)).toBe('nothing');
    expect(await own.ask(address, 53)).not.toBe('nothing');
  });

  it('proxy: a UDP client that keeps its port moves with the targets', async () => {
    for (const name of ['one', 'two']) await world.serveUdp(name, 30054);
    const health = await (await world.inside('one')).listen('0.0.0.0', 10256);
    const two = await (await world.inside('two')).listen('0.0.0.0', 10256);
    const listeners = [{ protocol: 'udp' as const, port: 53, targetPort: 30054 }];
    const set = (...names: string[]) => world.put(world.balancer(1, { listeners, healthCheck, targets: world.to(...names) }));
    const { id, address } = await set('one');
    await world.untilHealth(id, 'healthy');
    const client = await world.udpClient('three', 40000);
    const outside = await world.udpClientOutside();
    const at = async (timeoutMs?: number): Promise<string> =>
      (await Promise.all([client, outside].map((one) => one.ask(address, 53, timeoutMs)))).map((one) => one.split(' ')[0]).join();
    expect(await at()).toBe('one,one');
    // Another target alone; then both, and the one fails.
    await set('two');
    await world.untilHealth(id, 'healthy');
    expect(await at()).toBe('two,two');
    await set('one');
    await world.untilHealth(id, 'healthy');
    expect(await at()).toBe('one,one');
    await set('one', 'two');
    await world.untilHealth(id, 'healthy healthy');
    expect(await at()).toBe('one,one');
    health.close();
    const since = Date.now();
    await world.until('the client moved', async () => (await at(300)) === 'two,two');
    console.log(`the client moved ${Date.now() - since} ms after its target had failed`);
    // None: rejected; and back, although the client never paused.
    two.close();
    await world.untilHealth(id, 'unhealthy unhealthy');
    expect(await at(briefMs)).toBe('nothing,nothing');
    expect(await world.refusedUdp(address, 53)).toBe('ECONNREFUSED');
    const again = await (await world.inside('two')).listen('0.0.0.0', 10256);
    await world.until('served again', async () => (await at(300)) === 'two,two');
    again.close();
  });

  it('answers of targets go back to the edge whatever the route tables say', async () => {
    // No internet gateway: the subnet is a private one.
    const { address } = await network(['one']);
    const table = await run('ip', [
      '-n',
      routerNetns(world.cloud.mark, 'vpc-a'),
      'route',
      'get',
      '192.0.2.1',
      'from',
      '10.20.1.11',
      'iif',
      'v-one',
    ]);
    expect(table.code).not.toBe(0);
    expect(await world.ask(undefined, address, 80)).toMatch(/^one /);
    const closed = world.cloud.group('a', 'closed', [], []);
    await world.cloud.changeNic('eni-one', { securityGroupIds: [closed], sourceDestCheck: true });
    // The load balancer has asked the source already.
    expect(await world.ask(undefined, address, 80)).toMatch(/^one /);
  });
});
