import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '#host';
import { silentLogger } from '#utils';
import { type Driver, emptyWorld, type Instance, type LoadBalancer, type Observation, type World } from '../../model/index.ts';
import { createPicker } from './pick.ts';
import { proxyHeader } from './proxy-header.ts';
import { createLoopbackLoadBalancers, type InstanceDial } from '../index.ts';

const base = { ownerId: '1', tags: {}, createdAt: '2026-01-01T00:00:00Z' };
const instance = (id: string): Instance => ({
  ...base,
  id,
  name: id,
  type: 'small',
  zone: 'z',
  region: 'r',
  vpcId: 'vpc-1',
  subnetId: 'subnet-1',
  state: 'running',
  privateAddress: '10.0.0.1',
  privateDnsName: id,
  interfaceIds: [],
  boots: 1,
});
const balancer = (more: Partial<LoadBalancer> = {}): LoadBalancer => ({
  ...base,
  id: 'lb-1',
  name: 'one',
  kind: 'proxy',
  scheme: 'internet-facing',
  vpcId: 'vpc-1',
  subnetIds: ['subnet-1'],
  address: '198.18.0.5',
  state: 'provisioning',
  listeners: [{ protocol: 'tcp', port: 80, targetPort: 30080 }],
  sourceRanges: ['0.0.0.0/0'],
  proxyProtocol: 'none',
  targets: [
    { instanceId: 'i-a', health: 'initial' },
    { instanceId: 'i-b', health: 'initial' },
  ],
  ...more,
});

class Twin {
  world: World = { ...emptyWorld, instances: new Map(['i-a', 'i-b'].map((id) => [id, instance(id)])) };
  readonly seen: Observation[] = [];
  readonly dialled: string[] = [];
  readonly servers = new Map<string, Server>();
  readonly driver: Driver;
  constructor(dial?: InstanceDial) {
    this.driver = createLoopbackLoadBalancers(
      { observe: (observation) => void this.seen.push(observation) },
      { clock: systemClock(), logger: silentLogger, dial: dial ?? ((id, port, address) => this.#dial(id, port, address)) },
    );
  }
  #dial: InstanceDial = async (id, port, address) => {
    this.dialled.push([id, port, address].filter((part) => part !== undefined).join(' '));
    const server = this.servers.get(id);
    if (!server) throw new Error('connect ECONNREFUSED');
    const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    return socket;
  };
  /** An instance's program; default: says its id, then echoes. */
  async serve(id: string, work?: (socket: Socket) => void): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {});
      if (work) return work(socket);
      socket.write(`${id}\n`);
      socket.pipe(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.servers.set(id, server);
  }
  async put(...balancers: LoadBalancer[]): Promise<void> {
    this.world = { ...this.world, loadBalancers: new Map(balancers.map((one) => [one.id, one])) };
    await this.driver.realise(this.world);
  }
  port(key = 'tcp/80'): number {
    const states = this.seen.filter((one) => one.kind === 'load-balancer-state');
    return states.at(-1)?.loopbackPorts?.[key] ?? 0;
  }
  async open(port = this.port()): Promise<Socket> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  }
  /** All that is said until the end. */
  async ask(said = '', port = this.port()): Promise<string> {
    try {
      const socket = await this.open(port);
      socket.end(said);
      return await all(socket);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? String(error);
    }
  }
  async end(): Promise<void> {
    await this.driver.close();
    for (const server of this.servers.values()) server.close();
  }
}
const all = async (socket: Socket): Promise<string> => {
  let text = '';
  try {
    for await (const chunk of socket) text += String(chunk);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
  return text;
};

describe('load balancers on loopback', () => {
  let twin: Twin;
  afterEach(() => twin.end());
  const start = async (...ids: string[]): Promise<void> => {
    twin = new Twin();
    for (const id of ids) await twin.serve(id);
  };

  it('serve in turn, tell where, and follow targets without another port', async () => {
    await start('i-a', 'i-b');
    await twin.put(balancer());
    expect(twin.seen).toEqual([
      { kind: 'load-balancer-state', loadBalancerId: 'lb-1', state: 'active', loopbackPorts: { 'tcp/80': expect.any(Number) } },
      { kind: 'target-health', loadBalancerId: 'lb-1', instanceId: 'i-a', health: 'healthy' },
      { kind: 'target-health', loadBalancerId: 'lb-1', instanceId: 'i-b', health: 'healthy' },
    ]);
    expect([await twin.ask('x'), await twin.ask('y'), await twin.ask()]).toEqual(['i-a\nx', 'i-b\ny', 'i-a\n']);
    expect(twin.dialled[0]).toBe('i-a 30080');
    const port = twin.port();
    await twin.put(
      balancer({
        targets: [
          { instanceId: 'i-b', health: 'healthy' },
          { instanceId: 'i-gone', health: 'initial' },
        ],
      }),
    );
    expect([await twin.ask('', port), await twin.ask('', port)]).toEqual(['i-b\n', 'i-b\n']);
    expect(twin.seen.at(-1)).toMatchObject({ instanceId: 'i-gone', health: 'unused' });
    await twin.put(balancer({ targets: [] }));
    expect(await twin.ask('', port)).toBe('ECONNRESET');
    await twin.put();
    await expect(twin.open(port)).rejects.toThrow('ECONNREFUSED');
  });

  it('take the port they had, if it is free', async () => {
    await start('i-a');
    await twin.put(balancer());
    const port = twin.port();
    await twin.end();
    await start('i-a');
    await twin.put(balancer({ loopbackPorts: { 'tcp/80': port } }), balancer({ id: 'lb-2', loopbackPorts: { 'tcp/80': port } }));
    const ports = twin.seen.flatMap((one) => (one.kind === 'load-balancer-state' ? [one.loopbackPorts?.['tcp/80'] ?? 0] : []));
    expect(ports[0]).toBe(port);
    expect(ports[1]).not.toBe(port);
    expect(ports[1]).toBeGreaterThan(0);
  });

  it('carry each half of a connection to its end', async () => {
    await start();
    await twin.serve('i-a', (socket) => {
      let bytes = 0;
      socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
      socket.once('end', () => socket.end(`${bytes}`));
    });
    await twin.put(balancer({ targets: [{ instanceId: 'i-a', health: 'initial' }] }));
    expect(await twin.ask('x'.repeat(500_000))).toBe('500000');
    // The other way round: the backend ends first.
    let rest = '';
    twin.servers.get('i-a')?.close();
    const heard = new Promise<void>((resolve) => {
      void twin.serve('i-a', (socket) => {
        socket.end('bye');
        socket.on('data', (chunk: Buffer) => (rest += chunk.toString()));
        socket.once('end', resolve);
      });
    });
    await new Promise((resolve) => setTimeout(resolve, 10));
    const socket = await twin.open();
    let said = '';
    socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await once(socket, 'end');
    expect(said).toBe('bye');
    socket.end('still heard');
    await heard;
    expect(rest).toBe('still heard');
  });

  it('tell the client by the PROXY protocol, refuse whom no range names, and say that UDP cannot be', async () => {
    await start();
    await twin.serve('i-a', (socket) => void socket.pipe(socket));
    const targets = [{ instanceId: 'i-a', health: 'healthy' as const }];
    await twin.put(balancer({ targets, proxyProtocol: 'v1' }));
    const port = twin.port();
    const socket = await twin.open();
    const { localPort } = socket;
    socket.end('hello');
    expect(await all(socket)).toBe(`PROXY TCP4 127.0.0.1 198.18.0.5 ${localPort} 80\r\nhello`);
    await twin.put(balancer({ targets, sourceRanges: ['10.0.0.0/8'] }));
    expect(await twin.ask('', port)).toBe('ECONNRESET');
    await twin.put(balancer({ targets, listeners: [{ protocol: 'udp', port: 53 }] }));
    expect(twin.seen.at(-1)).toEqual({
      kind: 'load-balancer-state',
      loadBalancerId: 'lb-1',
      state: 'failed',
      reason: 'UDP listeners need real networks: load balancers on loopback serve TCP only',
      loopbackPorts: {},
    });
    await twin.put(balancer({ targets, kind: 'network', listeners: [{ protocol: 'tcp', port: 443 }] }));
    await twin.ask('', twin.port('tcp/443'));
    expect(twin.dialled.at(-1)).toBe('i-a 443 198.18.0.5');
  });

  it('keep clients with their target, and send them only to healthy ones', async () => {
    await start('i-a', 'i-b');
    await twin.put(balancer({ affinityTimeoutSeconds: 60 }));
    expect(new Set([await twin.ask(), await twin.ask(), await twin.ask()]).size).toBe(1);
    twin.servers.get('i-a')?.close();
    twin.servers.delete('i-a');
    const healthCheck = {
      protocol: 'tcp' as const,
      port: 10256,
      intervalMs: 100,
      timeoutMs: 1000,
      healthyThreshold: 1,
      unhealthyThreshold: 1,
    };
    await twin.put(balancer({ healthCheck }));
    const told = (): string[] =>
      twin.seen.flatMap((one) => (one.kind === 'target-health' ? [`${one.instanceId} ${one.health}`] : []));
    await expect.poll(told).toContain('i-a unhealthy');
    await expect.poll(() => twin.ask()).toBe('i-b\n');
  });
});

describe('the choice of a target', () => {
  it('goes in turn, or stays until its time is over or its target is gone', () => {
    const turns = createPicker(undefined, 10);
    expect(['a', 'a', 'a', 'a'].map((client) => turns.pick(client, ['x', 'y'], 0))).toEqual(['x', 'y', 'x', 'y']);
    expect(turns.pick('a', [], 0)).toBeUndefined();
    const stays = createPicker(1000, 2);
    expect(stays.pick('a', ['x', 'y'], 0)).toBe('x');
    expect(stays.pick('b', ['x', 'y'], 0)).toBe('y');
    expect(stays.pick('a', ['x', 'y'], 999)).toBe('x');
    expect(stays.pick('a', ['y'], 1000)).toBe('y');
    expect(stays.pick('a', ['x', 'y'], 1500)).toBe('y');
    expect(stays.pick('b', ['x', 'y'], 1500)).toBe('y');
    expect(stays.pick('a', ['x'], 1600)).toBe('x');
  });
});

describe('the PROXY header', () => {
  it('is that of the specification', () => {
    const endpoints = { sourceAddress: '192.0.2.1', sourcePort: 40000, destinationAddress: '198.18.0.5', destinationPort: 443 };
    expect(Buffer.from(proxyHeader('v1', endpoints)).toString()).toBe('PROXY TCP4 192.0.2.1 198.18.0.5 40000 443\r\n');
    expect(Buffer.from(proxyHeader('v2', endpoints)).toString('hex')).toBe(
      '0d0a0d0a000d0a515549540a' + '21' + '11' + '000c' + 'c0000201' + 'c6120005' + '9c40' + '01bb',
    );
  });
});
