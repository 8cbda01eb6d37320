// A cloud of real namespaces with load balancers: backends and clients are sockets of the test's own process inside instances' networks.
import { execFileSync } from 'node:child_process';
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createLoadBalancerDriver } from '#cloud/load-balancers';
import { type Driver, instanceNetns, type LoadBalancer, type Observation, uplinkLink } from '#cloud/model';
import { execCommand, type NetnsSockets, systemClock } from '#host';
import { type Exec, type Logger, silentLogger } from '#utils';
import { MachineWorld, mayTest as mayTestMachine, run } from './machine-world.ts';

const has = (program: string): boolean => {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
export const mayTest = mayTestMachine ?? (has('haproxy') ? undefined : 'needs haproxy');

/** What a backend says first: who it is, and who it thinks the client is. */
export interface Said {
  backend: string;
  client: string;
  rest: string;
}

/** For an answer that will come, on a machine with much else to do. */
const patienceMs = 10_000;
/** For what must not come. */
export const briefMs = 1_500;

const base = { ownerId: '000000000001', tags: {}, createdAt: '2026-01-01T00:00:00Z' };

export class BalancedWorld {
  readonly cloud: MachineWorld;
  readonly seen: Observation[] = [];
  readonly #joined = new Map<string, NetnsSockets>();
  readonly #open = new Set<Server | DatagramSocket | Socket>();
  driver: Driver;
  #count = 0;
  #pending: Promise<void> = Promise.resolve();
  #closed = false;

  private constructor(cloud: MachineWorld) {
    this.cloud = cloud;
    this.driver = this.newDriver();
  }

  /** A VPC `a` with instances named `one`, `two`, ... at 10.20.1.11, .12, ... */
  static async create(...names: string[]): Promise<BalancedWorld> {
    const cloud = await MachineWorld.create();
    const world = new BalancedWorld(cloud);
    try {
      cloud.vpc('a');
      const subnet = cloud.subnet('a', '1', '10.20.1.0/24');
      const ids = names.map((name, i) => cloud.machine(name, subnet, `10.20.1.${11 + i}`, { nic: { sourceDestCheck: false } }));
      await cloud.realise();
      await cloud.running(...ids);
      return world;
    } catch (error) {
      await world.destroy();
      throw error;
    }
  }

  get context() {
    const { mark, publicCidr, dir } = this.cloud;
    return { mark, publicCidr, dir: join(dir, 'load-balancers') };
  }
  newDriver({ exec = execCommand, logger = silentLogger }: { exec?: Exec; logger?: Logger } = {}): Driver {
    return createLoadBalancerDriver(
      { ...this.context, observe: (observation) => this.observe(observation) },
      { exec, clock: systemClock(), logger },
    );
  }
  /** What a driver has seen. As the cloud's loop does, the changed world comes round again, to the driver of this process. */
  observe(observation: Observation): void {
    this.fold(observation);
    if (observation.kind === 'instance-state') return;
    const again = (): unknown => (this.#closed ? undefined : this.driver.realise(this.cloud.world));
    this.#pending = this.#pending.then(again).then(
      () => {},
      () => {},
    );
  }
  /** What the driver of another process has seen: this one's must not act beside it. */
  fold(observation: Observation): void {
    this.seen.push(observation);
    if (observation.kind === 'instance-state') return;
    const found = this.cloud.world.loadBalancers.get(observation.loadBalancerId);
    if (!found) return;
    if (observation.kind === 'load-balancer-state') {
      const { stateReason: _, ...rest } = found;
      this.cloud.put('loadBalancers', {
        ...rest,
        state: observation.state,
        ...(observation.reason !== undefined && { stateReason: observation.reason }),
      });
    } else {
      const targets = found.targets.map((target) =>
        target.instanceId === observation.instanceId ? { ...target, health: observation.health } : target,
      );
      this.cloud.put('loadBalancers', { ...found, targets });
    }
  }

  address(number: number): string {
    return this.cloud.publicCidr.replace('.0/24', `.${number}`);
  }
  balancer(number: number, more: Partial<LoadBalancer>): LoadBalancer {
    return {
      ...base,
      id: `lb-${number.toString(16).padStart(8, '0')}`,
      name: `b${number}`,
      kind: 'proxy',
      scheme: 'internet-facing',
      vpcId: 'vpc-a',
      subnetIds: ['subnet-a1'],
      address: this.address(10 + number),
      state: 'provisioning',
      listeners: [{ protocol: 'tcp', port: 80, targetPort: 8080 }],
      sourceRanges: ['0.0.0.0/0'],
      proxyProtocol: 'none',
      targets: [],
      ...more,
    };
  }
  to(...names: string[]): LoadBalancer['targets'] {
    return names.map((name) => ({ instanceId: `i-${name}`, health: 'initial' }));
  }
  /** Makes or replaces a load balancer, and waits until it is real. */
  async put(balancer: LoadBalancer): Promise<LoadBalancer> {
    this.cloud.put('loadBalancers', balancer);
    await this.realise();
    return balancer;
  }
  async remove(id: string): Promise<void> {
    this.cloud.remove('loadBalancers', id);
    await this.realise();
  }
  /** Until the machine is as the world is, and the world has heard of it. */
  async realise(): Promise<void> {
    await this.driver.realise(this.cloud.world);
    for (let pending: unknown; pending !== this.#pending; await this.#pending) pending = this.#pending;
  }
  /** Until the health of its targets is this, and connections go accordingly. */
  async untilHealth(id: string, expected: string): Promise<void> {
    await this.until(`${id} is ${expected}`, () => this.health(id) === expected);
    await this.realise();
  }
  health(id: string): string {
    return (
      this.cloud.world.loadBalancers
        .get(id)
        ?.targets.map(({ health }) => health)
        .join(' ') ?? ''
    );
  }
  state(id: string): string {
    const found = this.cloud.world.loadBalancers.get(id);
    return `${found?.state} ${found?.stateReason ?? ''}`.trim();
  }

  async inside(name: string): Promise<NetnsSockets> {
    const netns = instanceNetns(this.cloud.mark, `i-${name}`);
    const known = this.#joined.get(netns) ?? (await this.cloud.join(netns));
    this.#joined.set(netns, known);
    return known;
  }
  /** A server in an instance that says who it is and whom it sees, then echoes. */
  async serve(name: string, port: number): Promise<Server> {
    const server = await (await this.inside(name)).listen('0.0.0.0', port);
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
      socket.on('error', () => {});
      socket.write(`${name} ${socket.remoteAddress}\n`);
      socket.pipe(socket);
    });
    this.#open.add(server);
    return server;
  }
  /** The same for datagrams: each is answered with who it is, whom it sees, and the datagram. */
  async serveUdp(name: string, port: number, address = '0.0.0.0'): Promise<DatagramSocket> {
    const socket = this.#keepUdp(await (await this.inside(name)).bindUdp(address, port));
    socket.on('message', (message, { address: client, port: from }) => socket.send(`${name} ${client} ${message}`, from, client));
    return socket;
  }
  /** A datagram that cannot be sent is one that does not come. */
  #keepUdp(socket: DatagramSocket): DatagramSocket {
    socket.on('error', () => {});
    this.#open.add(socket);
    return socket;
  }
  /** Answers health checks with a status that the test may change. */
  async serveHealth(name: string, port: number): Promise<{ status: number; asked: number }> {
    const health = { status: 200, asked: 0 };
    const server = await (await this.inside(name)).listen('0.0.0.0', port);
    server.on('connection', (socket: Socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        health.asked++;
        socket.end(`HTTP/1.1 ${health.status} Whatever\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      });
      socket.resume();
    });
    this.#open.add(server);
    return health;
  }
  /** The instance takes `address` as its own, as kube-proxy makes a node do. */
  async own(name: string, address: string): Promise<void> {
    await this.cloud.inside(`i-${name}`, 'ip', 'addr', 'add', `${address}/32`, 'dev', 'lo');
  }

  async open(from: string | undefined, host: string, port: number, timeoutMs = patienceMs): Promise<Socket> {
    const socket = from === undefined ? connect({ host, port }) : await (await this.inside(from)).connect(host, port);
    if (from === undefined) {
      const timer = setTimeout(() => socket.destroy(new Error('connect timed out')), timeoutMs);
      await once(socket, 'connect').finally(() => clearTimeout(timer));
    }
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    // Tests stop machines under open connections, which resets them: whoever reads from one hears of it there.
    socket.on('error', () => undefined);
    return socket;
  }
  /** What a backend says to a new connection; `from`: an instance, or undefined for the machine. Or why it says nothing. */
  async ask(from: string | undefined, host: string, port: number, timeoutMs = patienceMs): Promise<string> {
    let socket: Socket | undefined;
    try {
      socket = await this.open(from, host, port, timeoutMs);
      return await firstLine(socket);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return code ?? (/ E[A-Z]+/.exec(message)?.[0].trim() || message);
    } finally {
      socket?.destroy();
    }
  }
  /** The same from another address of an instance, as a pod's is. */
  async askAs(name: string, localAddress: string, host: string, port: number): Promise<string> {
    const source = `const s = require('net').connect({ host: '${host}', port: ${port}, localAddress: '${localAddress}' });
      s.setTimeout(${patienceMs}, () => process.exit(1)); s.once('error', () => process.exit(1));
      s.once('data', (data) => { process.stdout.write(data); s.destroy(); });`;
    return (await this.cloud.inside(`i-${name}`, process.execPath, '-e', source)).stdout.trim();
  }
  async udpClient(from: string, port = 0): Promise<UdpClient> {
    return new UdpClient(this.#keepUdp(await (await this.inside(from)).bindUdp('0.0.0.0', port)));
  }
  /** A client outside of the cloud. */
  async udpClientOutside(): Promise<UdpClient> {
    const socket = createSocket('udp4');
    socket.bind(0);
    await once(socket, 'listening');
    return new UdpClient(this.#keepUdp(socket));
  }
  /** Why a datagram from the machine was not taken. */
  async refusedUdp(host: string, port: number): Promise<string> {
    const socket = createSocket('udp4');
    try {
      socket.connect(port, host);
      await once(socket, 'connect');
      socket.send('x');
      const [error] = (await once(socket, 'error', { signal: AbortSignal.timeout(patienceMs) })) as [NodeJS.ErrnoException];
      return String(error.code);
    } catch (error) {
      return String((error as NodeJS.ErrnoException).code ?? error);
    } finally {
      socket.close();
    }
  }
  /** The machine's address as the cloud sees it. */
  async machineAddress(): Promise<string> {
    const { stdout } = await run('ip', ['-4', '-o', 'addr', 'show', 'dev', uplinkLink(this.cloud.mark)]);
    return /inet ([\d.]+)/.exec(stdout)?.[1] ?? '';
  }
  async until<T>(what: string, check: () => T | Promise<T>, timeoutMs = 10_000): Promise<NonNullable<T>> {
    return this.cloud.until(what, check, timeoutMs);
  }
  /** What carries this cloud's mark or folder on the machine: namespaces, links, packet rules, processes. */
  async leftovers(): Promise<string> {
    const { mark, dir } = this.cloud;
    const shown = await Promise.all([
      run('ip', ['netns', 'list']),
      run('ip', ['-br', 'link']),
      run('iptables-save', []),
      run('ps', ['-eo', 'pid,args', 'ww']),
    ]);
    return shown
      .flatMap(({ stdout }) => stdout.split('\n'))
      .filter((line) => line.includes(mark) || line.includes(dir))
      .join('\n');
  }
  /** Masters of HAProxy that belong to this world. */
  masters(): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          const text = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
          // A worker is of its master's process group.
          const group = readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/.*\) /s, '').split(' ')[2];
          return text.startsWith('haproxy\0') && text.includes(this.cloud.dir) && group === pid;
        } catch {
          return false;
        }
      })
      .map(Number);
  }
  async destroy(): Promise<void> {
    this.#closed = true;
    for (const one of this.#open) {
      if ('destroy' in one) one.destroy();
      else one.close();
    }
    await this.#pending;
    try {
      await this.driver.close();
    } finally {
      for (const sockets of this.#joined.values()) sockets.close();
      await this.cloud.destroy();
    }
  }
  nextNumber(): number {
    return ++this.#count;
  }
}

/** A client that keeps its port. */
export class UdpClient {
  readonly #socket: DatagramSocket;
  #sent = 0;
  constructor(socket: DatagramSocket) {
    this.#socket = socket;
  }
  /** The answer to one datagram: `backend client`, or `nothing`. */
  async ask(host: string, port: number, timeoutMs = patienceMs): Promise<string> {
    const text = `m${++this.#sent}`;
    return new Promise((resolve) => {
      const done = (answer: string): void => {
        clearTimeout(timer);
        this.#socket.off('message', onMessage);
        resolve(answer);
      };
      const onMessage = (message: Buffer): void => {
        const words = message.toString().split(' ');
        if (words[2] === text) done(words.slice(0, 2).join(' '));
      };
      const timer = setTimeout(() => done('nothing'), timeoutMs);
      this.#socket.on('message', onMessage);
      this.#socket.send(text, port, host);
    });
  }
}

export async function firstLine(socket: Socket, timeoutMs = patienceMs): Promise<string> {
  let text = '';
  const timer = setTimeout(() => socket.destroy(new Error('no answer')), timeoutMs);
  try {
    for await (const chunk of socket.resume().iterator({ destroyOnReturn: false })) {
      text += String(chunk);
      if (text.includes('\n')) return text.slice(0, text.indexOf('\n'));
    }
  } finally {
    clearTimeout(timer);
  }
  return text === '' ? 'closed' : text;
}

/** Where chance chooses among few, this often is as good as always. */
const oftenEnough = 200;

/** Different answers, in order of their text. Asks so many times, and on until there are so many different ones: targets are chosen by chance. */
export async function spread(times: number, ask: () => Promise<string>, different = 1): Promise<string[]> {
  const answers = new Set<string>();
  for (let i = 0; i < times || (answers.size < different && i < oftenEnough); i++) answers.add(await ask());
  return [...answers].sort();
}
