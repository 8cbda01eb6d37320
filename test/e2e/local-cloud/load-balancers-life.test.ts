// What becomes of load balancers when programs end, and how long many take.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeLoadBalancers } from '#cloud/load-balancers';
import { edgeNetns, type LoadBalancer, routerNetns } from '#cloud/model';
import { execCommand, systemClock } from '#host';
import type { Exec } from '#utils';
import { eventually } from '../cluster/harness.ts';
import { startDriverProcess } from './driver-process.ts';
import { BalancedWorld, firstLine, mayTest } from './load-balancers-world.ts';
import { run } from './machine-world.ts';

const room = { room: '#cloud/load-balancers', create: 'createLoadBalancerDriver' };

describe.skipIf(mayTest)(`the life of load balancers${mayTest ? ` (${mayTest})` : ''}`, () => {
  let world: BalancedWorld;
  beforeEach(async () => {
    world = await BalancedWorld.create('one', 'two');
  });
  afterEach(async () => {
    await world?.destroy();
    expect((await world?.leftovers()) ?? '').toBe('');
  });
  /** What load balancers have in the router and the edge. */
  async function picture(): Promise<string> {
    const router = routerNetns(world.cloud.mark, 'vpc-a');
    const shown = await Promise.all([
      run('nsenter', [`--net=/run/netns/${router}`, 'iptables-save']),
      run('ip', ['-n', router, 'rule']),
      run('ip', ['-n', router, 'route', 'show', 'table', 'all', 'proto', '78']),
      run('ip', ['-n', router, 'addr', 'show', 'dev', 'lo']),
      run('ip', ['-n', edgeNetns(world.cloud.mark), 'route', 'show', 'proto', '78']),
    ]);
    return shown.map(({ stdout }) => stdout.replaceAll(/^#.*$|\[\d+:\d+\]/gm, '')).join('');
  }
  const two = (): LoadBalancer[] => [
    world.balancer(1, { targets: world.to('one', 'two') }),
    world.balancer(2, { kind: 'network', listeners: [{ protocol: 'tcp', port: 80 }], targets: world.to('one', 'two') }),
  ];

  it('a cloud that was killed finds its load balancers again, and no connection notices', async () => {
    const [proxy, network] = two() as [LoadBalancer, LoadBalancer];
    for (const name of ['one', 'two']) {
      await world.serve(name, 8080);
      await world.own(name, network.address);
      await world.serve(name, 80);
    }
    const crashing = await startDriverProcess(world.context, (observation) => world.fold(observation), room);
    world.cloud.put('loadBalancers', proxy);
    world.cloud.put('loadBalancers', network);
    try {
      await crashing.realise(world.cloud.world);
    } finally {
      await crashing.kill();
    }
    const kept = [await world.open(undefined, proxy.address, 80), await world.open(undefined, network.address, 80)];
    for (const socket of kept) expect(await firstLine(socket)).toMatch(/^(one|two) /);
    const before = await picture();
    const masters = world.masters();
    expect(masters).toHaveLength(1);
    await world.realise();
    expect(world.masters()).toEqual(masters);
    expect(await picture()).toBe(before);
    for (const socket of kept) {
      socket.write('still there\n');
      expect(await firstLine(socket)).toBe('still there');
    }
    // Changes reach the HAProxy that was taken over.
    await world.put({ ...proxy, targets: world.to('two') });
    expect(await world.ask(undefined, proxy.address, 80)).toMatch(/^two /);
    expect(world.masters()).toEqual(masters);
  });

  it('what a crashed cloud left behind is removed, also what is gone from the world', async () => {
    const crashing = await startDriverProcess(world.context, (observation) => world.fold(observation), room);
    const clean = await picture();
    for (const balancer of two()) world.cloud.put('loadBalancers', balancer);
    try {
      await crashing.realise(world.cloud.world);
    } finally {
      await crashing.kill();
    }
    expect(await picture()).not.toBe(clean);
    // Another start, in whose world one is gone, then both.
    world.cloud.remove('loadBalancers', 'lb-00000001');
    await world.realise();
    expect(world.masters()).toEqual([]);
    await world.remove('lb-00000002');
    expect(lines(await picture())).toEqual(lines(clean));
    for (const balancer of two()) world.cloud.put('loadBalancers', balancer);
    const another = await startDriverProcess(world.context, (observation) => world.fold(observation), room);
    try {
      await another.realise(world.cloud.world);
    } finally {
      await another.kill();
    }
    expect(world.masters()).toHaveLength(1);
    // What the killed driver was just starting may turn up later.
    await eventually('no HAProxy', async () => {
      await removeLoadBalancers(world.cloud.mark, { exec: execCommand, clock: systemClock(), dir: world.context.dir });
      return world.masters().length === 0;
    });
    expect(lines(await picture())).toEqual(lines(clean));
    await removeLoadBalancers(world.cloud.mark, { exec: execCommand, clock: systemClock(), dir: world.context.dir });
    world.cloud.remove('loadBalancers', 'lb-00000001');
    world.cloud.remove('loadBalancers', 'lb-00000002');
  });

  it('an HAProxy that ends is started again', async () => {
    await world.serve('one', 8080);
    const { address } = await world.put(world.balancer(1, { targets: world.to('one') }));
    const [master = 0] = world.masters();
    const since = Date.now();
    process.kill(-master, 'SIGKILL');
    await world.until('it serves again', async () => (await world.ask(undefined, address, 80)).startsWith('one'));
    console.log(`served again ${Date.now() - since} ms after HAProxy was killed`);
    expect(world.masters()).not.toContain(master);
    expect(world.masters()).toHaveLength(1);
  });

  it('says what to do when HAProxy is missing, and serves what does not need it', async () => {
    const without: Exec = (command, ...rest) =>
      command === 'haproxy' ? Promise.reject(new Error('haproxy: spawn haproxy ENOENT')) : execCommand(command, ...rest);
    world.driver = world.newDriver({ exec: without });
    const [proxy, network] = two() as [LoadBalancer, LoadBalancer];
    await world.own('one', network.address);
    await world.serve('one', 80);
    await world.put(proxy);
    await world.put({ ...network, targets: world.to('one') });
    await world.until('told', () => world.state(proxy.id).startsWith('failed'));
    expect(world.state(proxy.id)).toContain('HAProxy is not installed on this machine: install it (apt-get install haproxy)');
    expect(world.state(network.id)).toBe('active');
    expect(await world.ask('two', network.address, 80)).toMatch(/^one /);
  });

  it('a port that cannot be opened fails its own load balancer only', async () => {
    await world.serve('one', 8080);
    const inRouter = await world.cloud.join(routerNetns(world.cloud.mark, 'vpc-a'));
    const squatter = await inRouter.listen('0.0.0.0', 7777);
    await world.put(world.balancer(1, { targets: world.to('one') }));
    await world.put(
      world.balancer(2, { targets: world.to('one'), listeners: [{ protocol: 'tcp', port: 7777, targetPort: 8080 }] }),
    );
    expect(world.state('lb-00000002')).toMatch(/^failed .*Address already in use.*7777/);
    expect(world.state('lb-00000001')).toBe('active');
    await world.put(world.balancer(3, { targets: world.to('one') }));
    expect(await world.ask(undefined, world.address(13), 80)).toMatch(/^one /);
    expect(await world.ask(undefined, world.address(11), 80)).toMatch(/^one /);
    squatter.close();
    inRouter.close();
    await world.put(
      world.balancer(2, { targets: world.to('one'), listeners: [{ protocol: 'tcp', port: 7777, targetPort: 8080 }] }),
    );
    expect(world.state('lb-00000002')).toBe('active');
    expect(await world.ask(undefined, world.address(12), 7777)).toMatch(/^one /);
  });

  it('makes a hundred', async () => {
    await world.serve('one', 8080);
    const make = (number: number): LoadBalancer =>
      world.balancer(number, {
        listeners: [
          { protocol: 'tcp', port: 80, targetPort: 8080 },
          { protocol: 'udp', port: 53, targetPort: 8053 },
        ],
        targets: world.to('one', 'two'),
      });
    const times: number[] = [];
    const timed = async (work: () => Promise<unknown>): Promise<number> => {
      const since = performance.now();
      await work();
      return Math.round(performance.now() - since);
    };
    for (let i = 1; i <= 20; i++) times.push(await timed(() => world.put(make(i))));
    const rest = Array.from({ length: 80 }, (_, i) => make(21 + i));
    const atOnce = await timed(async () => {
      for (const balancer of rest) world.cloud.put('loadBalancers', balancer);
      await world.realise();
    });
    const again = await timed(() => world.realise());
    const target = await timed(() => world.put({ ...make(100), targets: world.to('one') }));
    const last = await timed(() => world.put(make(101)));
    for (const number of [1, 50, 100, 101]) expect(await world.ask(undefined, world.address(10 + number), 80)).toMatch(/^one /);
    const gone = await timed(async () => {
      for (let i = 1; i <= 101; i++) world.cloud.remove('loadBalancers', make(i).id);
      await world.realise();
    });
    console.log(
      `one by one: ${times.join(' ')} ms; 80 at once: ${atOnce} ms; nothing to do: ${again} ms; a target of one: ${target} ms; one more: ${last} ms; all removed: ${gone} ms`,
    );
  });
});

/** Without empty tables, which stay. */
const lines = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !/^(\*|COMMIT|:[A-Z]+ )/.test(line))
    .sort();
