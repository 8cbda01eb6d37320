// A world for the machine driver, built by hand, and what a test needs to look into the machine that the driver makes of it.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMachineDriver, type MachineDriver, removeMachine } from '#cloud/machine';
import {
  emptyWorld,
  type Instance,
  instanceNetns,
  interfaceNetns,
  type NetworkInterface,
  type Observation,
  type Route,
  type SecurityGroupRule,
  type UserData,
  type World,
} from '#cloud/model';
import { execCommand, joinNetns, systemClock } from '#host';
import { type ExecResult, silentLogger } from '#utils';

const base = { ownerId: '000000000001', tags: {}, createdAt: '2026-01-01T00:00:00Z' };
export const all: SecurityGroupRule[] = [{ protocol: 'all', cidr: '0.0.0.0/0' }];

/** For an answer that will come, on a machine with much else to do. */
const patienceMs = 10_000;
const echoPort = 7;

/** Prints the address a client comes from. */
const echoSource = `require('net').createServer((socket) => { socket.on('error', () => {}); socket.end(socket.remoteAddress.replace('::ffff:', '') + '\\n'); })`;
export const server = (port: number): string[] => [process.execPath, '-e', `${echoSource}.listen(${port})`];

export const mayTest =
  process.platform === 'linux' && process.getuid?.() === 0 ? undefined : 'needs root on Linux to make network namespaces';

export const run = (command: string, args: readonly string[]): Promise<ExecResult> =>
  execCommand(command, args, { timeoutMs: 60_000 });

/** Everything on the machine that bears a cloud's mark, or has to do with its folder. Others may come and go meanwhile. */
export async function machinePicture({ mark, dir }: { mark: string; dir: string }): Promise<Record<string, string>> {
  const cgroups = await Promise.all(
    (await readdir('/sys/fs/cgroup')).map((root) => readdir(join('/sys/fs/cgroup', root)).catch(() => [])),
  );
  const own = (text: string): string =>
    text
      .replaceAll(/\[\d+:\d+\]| \(id: \d+\)|@if\d+/g, '')
      .split('\n')
      .filter((line) => line.includes(mark) || line.includes(dir))
      .join('\n');
  const shown = async (command: string, ...args: string[]): Promise<string> => own((await run(command, args)).stdout);
  return {
    namespaces: await shown('ip', 'netns', 'list'),
    links: await shown('ip', '-br', 'link'),
    routes: await shown('ip', 'route'),
    rules: await shown('iptables-save'),
    mounts: own(await readFile('/proc/mounts', 'utf8')),
    cgroups: own(cgroups.flat().join('\n')),
    processes: await shown('ps', '-eo', 'args'),
  };
}

export class MachineWorld {
  readonly mark = randomBytes(3).toString('hex');
  readonly publicCidr = `198.18.${Number.parseInt(this.mark.slice(0, 2), 16)}.0/24`;
  readonly observations: Observation[] = [];
  readonly dir: string;
  readonly #ends = new Set<() => void>();
  world: World = emptyWorld;
  driver: MachineDriver;

  private constructor(dir: string) {
    this.dir = dir;
    this.driver = this.newDriver();
  }
  static async create(): Promise<MachineWorld> {
    return new MachineWorld(await mkdtemp(join(tmpdir(), 'sagong-machine-')));
  }
  get context() {
    return { mark: this.mark, publicCidr: this.publicCidr, dir: join(this.dir, 'cloud') };
  }
  newDriver(): MachineDriver {
    const observe = (observation: Observation): void => this.observe(observation);
    return createMachineDriver({ ...this.context, observe }, { exec: execCommand, clock: systemClock(), logger: silentLogger });
  }
  observe(observation: Observation): void {
    this.observations.push(observation);
    if (observation.kind !== 'instance-state' || !this.world.instances.has(observation.instanceId)) return;
    const { instanceId, state, initPid, reason } = observation;
    const { initPid: _, stateReason: __, ...instance } = this.instance(instanceId);
    this.put('instances', { ...instance, state, ...(initPid && { initPid }), ...(reason && { stateReason: reason }) });
  }
  put<Key extends keyof World>(kind: Key, item: World[Key] extends ReadonlyMap<string, infer Item> ? Item : never): void {
    this.world = { ...this.world, [kind]: new Map<string, unknown>([...this.world[kind], [(item as { id: string }).id, item]]) };
  }
  remove(kind: keyof World, id: string): void {
    this.world = { ...this.world, [kind]: new Map([...this.world[kind]].filter(([key]) => key !== id) as never) };
  }

  vpc(name: string, cidr = '10.20.0.0/16'): string {
    const id = `vpc-${name}`;
    this.put('vpcs', { ...base, id, name, cidr });
    this.put('routeTables', { ...base, id: `rtb-${name}`, vpcId: id, main: true, routes: [route(cidr, { kind: 'local' })] });
    this.group(name, 'all', all, all);
    return id;
  }
  group(vpc: string, name: string, ingress: SecurityGroupRule[], egress: SecurityGroupRule[] = all): string {
    const id = `sg-${vpc}${name}`;
    this.put('securityGroups', { ...base, id, vpcId: `vpc-${vpc}`, name, description: '', ingress, egress });
    return id;
  }
  subnet(vpc: string, zone: string, cidr: string): string {
    const id = `subnet-${vpc}${zone}`;
    this.put('subnets', { ...base, id, name: id, vpcId: `vpc-${vpc}`, zone, cidr, routeTableId: `rtb-${vpc}` });
    return id;
  }
  routes(vpc: string, ...routes: Route[]): void {
    const table = this.world.routeTables.get(`rtb-${vpc}`);
    if (table) this.put('routeTables', { ...table, routes: [...table.routes.slice(0, 1), ...routes] });
  }
  nic(name: string, subnetId: string, privateAddress: string, more: Partial<NetworkInterface> = {}): NetworkInterface {
    const subnet = this.world.subnets.get(subnetId);
    if (!subnet) throw new Error(`no subnet ${subnetId}`);
    const { vpcId, zone } = subnet;
    const nic: NetworkInterface = {
      ...base,
      id: `eni-${name}`,
      vpcId,
      subnetId,
      zone,
      description: '',
      privateAddress,
      securityGroupIds: [`sg-${vpcId.slice(4)}all`],
      sourceDestCheck: true,
      requesterManaged: false,
      ...more,
    };
    this.put('interfaces', nic);
    return nic;
  }
  machine(
    name: string,
    subnetId: string,
    privateAddress: string,
    more: { command?: string[]; nic?: Partial<NetworkInterface> } = {},
  ): string {
    const id = `i-${name}`;
    const nic = this.nic(name, subnetId, privateAddress, { ...more.nic, attachment: { instanceId: id, deviceIndex: 0 } });
    const userData: UserData | undefined = more.command && { command: more.command, directory: join(this.dir, 'disks', name) };
    const { vpcId, zone } = nic;
    this.put('instances', {
      ...base,
      id,
      name,
      type: 'small',
      zone,
      region: 'test',
      vpcId,
      subnetId,
      state: 'pending',
      privateAddress,
      privateDnsName: name,
      interfaceIds: [nic.id],
      ...(userData && { userData }),
      boots: 1,
    });
    return id;
  }
  instance(id: string): Instance {
    const found = this.world.instances.get(id);
    if (!found) throw new Error(`no instance ${id}`);
    return found;
  }
  change(id: string, change: Partial<Instance>): Promise<void> {
    this.put('instances', { ...this.instance(id), ...change });
    return this.realise();
  }
  nicOf(id: string): NetworkInterface {
    const found = this.world.interfaces.get(id);
    if (!found) throw new Error(`no interface ${id}`);
    return found;
  }
  changeNic(id: string, change: Partial<NetworkInterface>): Promise<void> {
    this.put('interfaces', { ...this.nicOf(id), ...change });
    return this.realise();
  }
  realise(): Promise<void> {
    return this.driver.realise(this.world);
  }
  /** Until all instances that are to run do. */
  async running(...ids: string[]): Promise<void> {
    for (const id of ids) await this.until(`${id} runs`, () => this.instance(id).state === 'running');
  }
  async until<T>(what: string, check: () => T | Promise<T>, timeoutMs = 15_000): Promise<NonNullable<T>> {
    for (const deadline = Date.now() + timeoutMs; ; ) {
      const value = await check();
      if (value) return value;
      if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}\n${JSON.stringify(this.observations)}`);
      await systemClock().sleep(20);
    }
  }
  /** Runs a program in an instance's or unattached interface's network. */
  inside(id: string, ...command: string[]): Promise<ExecResult> {
    const netns = id.startsWith('eni-') ? interfaceNetns(this.mark, id) : instanceNetns(this.mark, id);
    return run('nsenter', [`--net=/run/netns/${netns}`, ...command]);
  }
  /** What a server says that tells its client's address; undefined when it cannot be reached. */
  async seen(
    from: string | undefined,
    address: string,
    port: number,
    { source, timeoutMs = patienceMs }: { source?: string; timeoutMs?: number } = {},
  ): Promise<string | undefined> {
    const connect = `require('net').connect({ host: '${address}', port: ${port}, timeout: ${timeoutMs} ${source ? `, localAddress: '${source}'` : ''} })
      .on('timeout', () => process.exit(1)).on('error', () => process.exit(1)).pipe(process.stdout)`;
    const { code, stdout } = await (from === undefined
      ? run(process.execPath, ['-e', connect])
      : this.inside(from, process.execPath, '-e', connect));
    return code === 0 ? stdout.trim() : undefined;
  }
  /** The same where nobody should answer. */
  glimpsed(from: string | undefined, address: string, port: number, source?: string): Promise<string | undefined> {
    return this.seen(from, address, port, { timeoutMs: 1_000, ...(source !== undefined && { source }) });
  }
  /** The same, once the server is up. */
  reached(from: string | undefined, address: string, port: number): Promise<string> {
    return this.until(`${address}:${port} answers ${from ?? 'the machine'}`, () =>
      this.seen(from, address, port, { timeoutMs: 3_000 }),
    );
  }
  /** Datagrams from one instance to another, some milliseconds apart, until the function given is called: it says how many got no answer. */
  async traffic(from: string, to: string, address: string): Promise<() => Promise<{ sent: number; lost: number }>> {
    const joined = await Promise.all([from, to].map((id) => this.join(instanceNetns(this.mark, id))));
    const [client, server] = await Promise.all(joined.map((sockets, index) => sockets.bindUdp('0.0.0.0', index * echoPort)));
    const unanswered = new Set<string>();
    let sent = 0;
    for (const socket of [client, server]) socket?.on('error', () => {});
    server?.on('message', (message, { port, address: back }) => server.send(message, port, back));
    client?.on('message', (message) => unanswered.delete(message.toString()));
    const timer = setInterval(() => {
      const text = String(++sent);
      unanswered.add(text);
      client?.send(text, echoPort, address);
    }, 5);
    const end = (): void => {
      clearInterval(timer);
      this.#ends.delete(end);
      for (const one of [client, server, ...joined]) one?.close();
    };
    this.#ends.add(end);
    return async () => {
      clearInterval(timer);
      await this.until('answers', () => unanswered.size === 0, 2_000).catch(() => {});
      end();
      return { sent, lost: unanswered.size };
    };
  }
  join(netns: string): ReturnType<typeof joinNetns> {
    return joinNetns(netns, this.dir);
  }
  async destroy(): Promise<void> {
    for (const end of this.#ends) end();
    await this.driver.close().catch(() => {});
    await removeMachine(this.mark, { exec: execCommand, dir: this.dir });
    await rm(this.dir, { recursive: true, force: true });
  }
}

export const route = (destination: string, target: Route['target'], state: Route['state'] = 'active'): Route => ({
  destination,
  target,
  state,
  name: destination,
});
