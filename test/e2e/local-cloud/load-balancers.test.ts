// Load balancers of kind `proxy` with real packets, real HAProxy and real health checks.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BalancedWorld, briefMs, firstLine, mayTest, spread } from './load-balancers-world.ts';

describe.skipIf(mayTest)(`proxy load balancers${mayTest ? ` (${mayTest})` : ''}`, () => {
  let world: BalancedWorld;
  beforeEach(async () => {
    world = await BalancedWorld.create('one', 'two', 'three');
  });
  afterEach(async () => {
    await world?.destroy();
    expect((await world?.leftovers()) ?? '').toBe('');
  });

  it('serve TCP from outside and inside, on many ports, and are gone when removed', async () => {
    await world.serve('one', 8080);
    await world.serve('two', 8080);
    await world.serve('two', 8443);
    const listeners = [
      { protocol: 'tcp' as const, port: 80, targetPort: 8080 },
      { protocol: 'tcp' as const, port: 443, targetPort: 8443 },
    ];
    const { id, address } = await world.put(world.balancer(1, { listeners, targets: world.to('one', 'two') }));
    expect(world.state(id)).toBe('active');
    expect(await spread(6, () => world.ask(undefined, address, 80))).toEqual(['one 10.20.1.1', 'two 10.20.1.1']);
    expect(await spread(6, () => world.ask('three', address, 80))).toEqual(['one 10.20.1.1', 'two 10.20.1.1']);
    // Nothing listens there on `one`: the connection goes to the other.
    expect(await spread(4, () => world.ask(undefined, address, 443))).toEqual(['two 10.20.1.1']);
    expect(await world.ask(undefined, address, 81)).toBe('ECONNREFUSED');
    expect(world.health(id)).toBe('healthy healthy');
    // No targets: closed at once, not served and not silent.
    await world.put(world.balancer(1, { listeners, targets: [] }));
    expect(['ECONNRESET', 'closed']).toContain(await world.ask(undefined, address, 80));
    await world.remove(id);
    expect(await world.ask(undefined, address, 80)).toMatch(/^E/);
    expect(world.masters()).toEqual([]);
  });

  it('answer pods, whose addresses only their node knows', async () => {
    await world.serve('two', 8080);
    const { address } = await world.put(world.balancer(1, { targets: world.to('two') }));
    await world.cloud.inside('i-one', 'ip', 'addr', 'add', '10.244.1.7/32', 'dev', 'lo');
    expect(await world.askAs('one', '10.244.1.7', address, 80)).toBe('two 10.20.1.1');
  });

  it('lose no connection while targets change, and keep those that are open', async () => {
    for (const name of ['one', 'two', 'three']) await world.serve(name, 8080);
    const { id, address } = await world.put(world.balancer(1, { targets: world.to('one') }));
    const kept = await world.open(undefined, address, 80);
    expect(await firstLine(kept)).toContain('one');
    let done = false;
    const failures: string[] = [];
    let good = 0;
    let changeMs = 0;
    let step = '';
    const hammer = async (): Promise<void> => {
      while (!done) {
        const answer = await world.ask(undefined, address, 80);
        if (answer.endsWith(' 10.20.1.1')) good++;
        else failures.push(`${answer} ${step}`);
      }
    };
    const hammers = Array.from({ length: 4 }, hammer);
    const changes = 30;
    const sets = [['two', 'three'], ['one', 'three'], ['one'], ['three', 'one', 'two'], ['two']];
    for (let i = 0; i < changes; i++) {
      const targets = world.to(...(sets[i % sets.length] ?? []));
      // Every fifth time a listener changes too, which takes a reload.
      const listeners = [80, ...(i % 5 < 2 ? [] : [8000 + i])].map((port) => ({
        protocol: 'tcp' as const,
        port,
        targetPort: 8080,
      }));
      const since = performance.now();
      step = `${i}`;
      await world.put({ ...world.balancer(1, { targets, listeners }), id });
      changeMs += performance.now() - since;
    }
    done = true;
    await Promise.all(hammers);
    expect(failures).toEqual([]);
    expect(good).toBeGreaterThan(50);
    kept.write('still there\n');
    expect(await firstLine(kept)).toBe('still there');
    console.log(`${good} connections during ${changes} changes of ${Math.round(changeMs / changes)} ms, none failed`);
  });

  it('take only whom the source ranges name', async () => {
    await world.serve('two', 8080);
    const with_ = (...sourceRanges: string[]) => world.put(world.balancer(1, { targets: world.to('two'), sourceRanges }));
    const { address } = await with_('10.20.1.11/32');
    expect(await world.ask('one', address, 80)).toBe('two 10.20.1.1');
    expect(await world.cloud.glimpsed('i-three', address, 80)).toBeUndefined();
    expect(await world.ask(undefined, address, 80, briefMs)).toBe('connect timed out');
    await with_('0.0.0.0/1', '128.0.0.0/1');
    expect(await world.ask('three', address, 80)).toBe('two 10.20.1.1');
    expect(await world.ask(undefined, address, 80)).toBe('two 10.20.1.1');
    await with_();
    expect(await world.ask(undefined, address, 80, briefMs)).toBe('connect timed out');
  }, 60_000);

  it('tell targets their client by the PROXY protocol', async () => {
    const server = await (await world.inside('two')).listen('0.0.0.0', 8080);
    server.on('connection', (socket: Socket) => {
      socket.on('error', () => {});
      socket.once('data', (data: Buffer) =>
        socket.end(
          `${data.toString('latin1').startsWith('PROXY') ? data.toString('latin1').split('\r\n')[0] : data.toString('hex')}\n`,
        ),
      );
      socket.resume();
    });
    const { id, address } = await world.put(world.balancer(1, { targets: world.to('two'), proxyProtocol: 'v1' }));
    expect(await world.ask('one', address, 80)).toMatch(
      new RegExp(`^PROXY TCP4 10\\.20\\.1\\.11 ${address.replaceAll('.', '\\.')} \\d+ 80$`),
    );
    await world.put({ ...world.balancer(1, { targets: world.to('two'), proxyProtocol: 'v2' }), id });
    expect(await world.ask('one', address, 80)).toMatch(/^0d0a0d0a000d0a515549540a2111000c0a14010b/);
    // A target that comes later, without a reload, is told the same.
    await world.put({ ...world.balancer(1, { targets: [], proxyProtocol: 'v2' }), id });
    await world.put({ ...world.balancer(1, { targets: world.to('two'), proxyProtocol: 'v2' }), id });
    expect(await world.ask('one', address, 80)).toMatch(/^0d0a0d0a000d0a515549540a2111000c0a14010b/);
    server.close();
  });

  it('keep a client with its target as long as affinity says, also through a reload', async () => {
    for (const name of ['one', 'two', 'three']) await world.serve(name, 8080);
    const plain = { targets: world.to('one', 'two', 'three') };
    const { id, address } = await world.put(world.balancer(1, { ...plain, affinityTimeoutSeconds: 60 }));
    const first = await world.ask(undefined, address, 80);
    expect(await spread(8, () => world.ask(undefined, address, 80))).toEqual([first]);
    await world.put(world.balancer(2, plain));
    expect(await spread(8, () => world.ask(undefined, address, 80))).toEqual([first]);
    await world.put({ ...world.balancer(1, plain), id });
    expect(await spread(12, () => world.ask(undefined, address, 80))).toHaveLength(3);
  });

  it('put out targets that are not healthy, and take them back', async () => {
    for (const name of ['one', 'two']) await world.serve(name, 8080);
    const one = await world.serveHealth('one', 10256);
    const two = await world.serveHealth('two', 10256);
    const healthCheck = {
      protocol: 'http' as const,
      port: 10256,
      path: '/healthz',
      intervalMs: 500,
      timeoutMs: 2_000,
      healthyThreshold: 1,
      unhealthyThreshold: 2,
    };
    const targets = world.to('one', 'two', 'three');
    const { id, address } = await world.put(world.balancer(1, { targets, healthCheck }));
    // Another that asks the same shares the probes.
    await world.put(world.balancer(2, { targets, healthCheck }));
    await world.until(
      'health is known',
      () => world.health(id) === 'healthy healthy unhealthy' && world.health('lb-00000002') === world.health(id),
    );
    expect(await spread(8, () => world.ask(undefined, address, 80))).toEqual(['one 10.20.1.1', 'two 10.20.1.1']);
    const { asked } = one;
    const since = Date.now();
    one.status = 503;
    await world.until(
      'one is out',
      async () => (await spread(8, () => world.ask(undefined, address, 80))).join() === 'two 10.20.1.1',
    );
    const tookMs = Date.now() - since;
    console.log(`out of service ${tookMs} ms after the first bad answer was possible`);
    expect(one.asked - asked).toBeLessThanOrEqual(Math.ceil(tookMs / healthCheck.intervalMs) + 1);
    await world.until('it is seen', () => world.health(id) === 'unhealthy healthy unhealthy');
    one.status = 200;
    await world.until('one is back', async () => (await spread(8, () => world.ask(undefined, address, 80))).length === 2);
    // None healthy: closed at once.
    one.status = two.status = 500;
    await world.until('all are out', async () => ['ECONNRESET', 'closed'].includes(await world.ask(undefined, address, 80)));
  });

  it('serve within a VPC only, when internal', async () => {
    await world.serve('one', 8080);
    const { id, address } = await world.put(
      world.balancer(1, { scheme: 'internal', address: '10.20.1.200', targets: world.to('one') }),
    );
    expect(await world.ask('two', address, 80)).toBe('one 10.20.1.1');
    // A target that is its own client.
    expect(await world.ask('one', address, 80)).toBe('one 10.20.1.1');
    await world.remove(id);
    expect(await world.ask('two', address, 80)).toMatch(/^E/);
  });

  it('follow instances that stop and start', async () => {
    await world.serve('one', 8080);
    const { id, address } = await world.put(world.balancer(1, { targets: world.to('one', 'two') }));
    await world.cloud.change('i-two', { state: 'stopped' });
    await world.realise();
    expect(world.health(id)).toBe('healthy unused');
    expect(await spread(4, () => world.ask(undefined, address, 80))).toEqual(['one 10.20.1.1']);
    await world.cloud.change('i-two', { state: 'pending', boots: 2 });
    await world.cloud.running('i-two');
    await world.realise();
    expect(world.health(id)).toBe('healthy healthy');
  });

  it('take both halves of a connection to their ends', async () => {
    const server = await (await world.inside('one')).listen('0.0.0.0', 8080);
    server.on('connection', (socket: Socket) => {
      let text = '';
      socket.on('error', () => {});
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.once('end', () => socket.end(`got ${text.length}\n`));
      socket.resume();
    });
    const { address } = await world.put(world.balancer(1, { targets: world.to('one') }));
    const socket = await world.open(undefined, address, 80);
    socket.end('x'.repeat(300_000));
    expect(await firstLine(socket)).toBe('got 300000');
    await once(socket, 'close');
    server.close();
  });
});
