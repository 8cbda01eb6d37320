// Machines for tests: namespaces of every kind with a root of their own (an overlay over this machine's, kept in memory) and a cgroup of their own. They share
// nothing but wires: two links, and a router between them. When the first process of one is killed, all that ran in it is gone.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, resolve } from 'node:path';
import { cgroupLayout, clearCgroups, createCgroups } from '#cloud/machine';
import { systemClock } from '#host';
import { binary, eventually, type Output, run } from '../cluster/harness.ts';

const layout = cgroupLayout();

/** What tests run, wherever it is: it may lie on a mount of its own, or where a machine has a folder of its own. */
const older = process.env['SAGONG_OLDER'];
const programs = [
  resolve(binary, '..', '..'),
  dirname(process.execPath),
  ...(older === undefined ? [] : [resolve(older)]),
].filter((path) => path !== '/usr/bin');

/** Lines of the script that turns new namespaces into a machine. */
const initScript = (name: string, clusterMounts: string): string => `
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
cd /mnt/root
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=700 tmpfs root
mkdir -p data && mount -t tmpfs -o mode=700 tmpfs data
${programs.map((path) => `mkdir -p .${path} && mount --bind ${path} .${path}`).join('\n')}
mount --rbind /dev dev
mount -t proc proc proc
mount -t sysfs sysfs sys
${clusterMounts}
mkdir -p .old
pivot_root . .old
cd /
umount -l /.old
hostname ${name}
mount --make-rshared /
ip link set lo up
echo ready
exec sleep infinity`;

const cgroupMounts =
  layout.version === 2
    ? 'mount -t cgroup2 cgroup2 sys/fs/cgroup'
    : [
        'mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup',
        ...layout.controllers.map((one) => `mkdir sys/fs/cgroup/${one} && mount -t cgroup -o ${one} cgroup sys/fs/cgroup/${one}`),
        ...(layout.systemd
          ? ['mkdir sys/fs/cgroup/systemd && mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd']
          : []),
      ].join('\n');

export const libfaketime = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';

/** The kernel has one clock of the day for all namespaces: programs are told another time by what they ask it through. */
const otherClock = (aheadSeconds: number): Record<string, string> => ({
  LD_PRELOAD: libfaketime,
  FAKETIME: `${aheadSeconds > 0 ? '+' : ''}${aheadSeconds}`,
  DONT_FAKE_MONOTONIC: '1',
  FAKETIME_DISABLE_SHM: '1',
});

export class TestMachine {
  readonly name: string;
  /** What is run from now on believes this many seconds more than it is, but for programs that Go linked statically. Needs `libfaketime`. */
  clockAheadSeconds = 0;
  /** What is run as `sagong` from now on. */
  build = binary;
  readonly #cgroup: string;
  readonly #child: ChildProcess;
  readonly #pid: number;
  private constructor(name: string, cgroup: string, child: ChildProcess, pid: number) {
    this.name = name;
    this.#cgroup = cgroup;
    this.#child = child;
    this.#pid = pid;
  }
  static async boot(name: string): Promise<TestMachine> {
    const cgroup = `sagong-test-${process.pid}-${name}`;
    const enter = await createCgroups(layout, cgroup);
    const unshare = 'exec unshare --mount --net --uts --ipc --pid --cgroup --fork --kill-child=SIGKILL sh -c "$0"';
    const child = spawn('sh', ['-c', `${enter}; ${unshare}`, initScript(name, cgroupMounts)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const failed = once(child, 'exit').then(() => Promise.reject(new Error(`machine ${name}: ${said}`)));
    await Promise.race([once(child.stdout, 'data'), failed]);
    failed.catch(() => {});
    const { stdout } = await run('pgrep', ['-P', String(child.pid)]);
    return new TestMachine(name, cgroup, child, Number(stdout.trim().split('\n')[0]));
  }
  /** Seen from outside. */
  get pid(): number {
    return this.#pid;
  }
  run(...words: string[]): Promise<Output> {
    return this.runWith(undefined, ...words);
  }
  runWith(input: string | undefined, ...words: string[]): Promise<Output> {
    const enter = ['-t', String(this.#pid), '--mount', '--net', '--uts', '--ipc', '--pid', '--cgroup'];
    const home = { HOME: '/root', KUBECONFIG: '/data/cluster/kubeconfig', KUBECACHEDIR: '/tmp/kubecache' };
    const env = { ...home, ...(this.clockAheadSeconds !== 0 && otherClock(this.clockAheadSeconds)) };
    return run('nsenter', [...enter, ...words], { env, timeoutMs: 180_000, ...(input !== undefined && { input }) });
  }
  /** Throws with all that was said when it fails. */
  async must(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...words);
    if (code !== 0) throw new Error(`${this.name}: ${words.join(' ')}: exit code ${code}\n${stdout}${stderr}`);
    return stdout;
  }
  async sh(script: string): Promise<string> {
    return this.must('sh', '-c', script);
  }
  sagong(...words: string[]): Promise<Output> {
    return this.run(process.execPath, this.build, ...words);
  }
  async mustSagong(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.sagong(...words);
    if (code !== 0)
      throw new Error(`${this.name}: sagong ${words.join(' ')}: exit code ${code}\n${stdout}${stderr}\n${await this.logs()}`);
    return stdout;
  }
  async logs(): Promise<string> {
    const files = '/data/*/logs/*.log /data/*/machine/logs/*.log /root/.sagong/*/logs/*.log';
    return (await this.run('sh', '-c', `for f in $(ls ${files} 2>/dev/null); do echo "== $f"; tail -n 40 $f; done`)).stdout;
  }
  async kubectl(...words: string[]): Promise<string> {
    return this.must('kubectl', ...words);
  }
  /** As root types it at the machine, at home, where `sagong` is a command. */
  async type(command: string): Promise<string> {
    const program = `printf '#!/bin/sh\\nexec ${process.execPath} ${this.build} "$@"\\n' > /usr/local/bin/sagong && chmod +x /usr/local/bin/sagong`;
    const { code, stdout, stderr } = await this.run('sh', '-c', `${program}; unset KUBECONFIG; cd; ${command}`);
    if (code !== 0) throw new Error(`${this.name}# ${command}\nexit code ${code}\n${stdout}${stderr}\n${await this.logs()}`);
    return stdout;
  }
  async copyIn(content: Buffer, path: string): Promise<void> {
    const child = spawn('nsenter', ['-t', String(this.#pid), '--mount', 'sh', '-c', `cat > ${path}`], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    child.stdin.end(content);
    const [code] = (await once(child, 'exit')) as [number];
    if (code !== 0) throw new Error(`cannot write ${path}`);
  }
  /** As pulling the plug. */
  async destroy(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      process.kill(this.#pid, 'SIGKILL');
      await once(this.#child, 'exit');
    }
    await eventually(`the cgroup of ${this.name} is gone`, async () => {
      await clearCgroups(layout, this.#cgroup, systemClock());
      return true;
    });
  }
}

/** A cable between two machines, plugged into `port` of each. */
async function wire(a: TestMachine, portA: string, b: TestMachine, portB: string): Promise<void> {
  const [one, other] = [`sgt${a.pid}`, `sgt${b.pid}`].map((name) => name.slice(0, 15)) as [string, string];
  const made = await run('ip', [
    'link',
    'add',
    one,
    'netns',
    String(a.pid),
    'type',
    'veth',
    'peer',
    'name',
    other,
    'netns',
    String(b.pid),
  ]);
  if (made.code !== 0) throw new Error(made.stderr);
  for (const [machine, from, to] of [
    [a, one, portA],
    [b, other, portB],
  ] as const) {
    await machine.must('ip', 'link', 'set', from, 'name', to);
    await machine.must('ip', 'link', 'set', to, 'up');
  }
}

export interface TestWorld {
  /** On one link: 10.50.1.1, 10.50.1.2 and, where it is asked for, 10.50.1.3. */
  first: TestMachine;
  near: TestMachine;
  worker: TestMachine | undefined;
  /** Behind a router: 10.50.2.1. */
  far: TestMachine;
  /** The plug of `far` is pulled, and another machine of its name and address, with an empty disk, is put in its place. */
  /** A machine of both links that is no part of any cluster. */
  router: TestMachine;
  replaceFar(): Promise<void>;
  destroy(): Promise<void>;
}

async function plugFar(far: TestMachine, router: TestMachine): Promise<void> {
  await wire(far, 'eth0', router, 'link2');
  await router.sh('ip addr add 10.50.2.254/24 dev link2');
  await far.sh('ip addr add 10.50.2.1/24 dev eth0 && ip route add default via 10.50.2.254');
}

export async function bootWorld({ worker: withWorker = false } = {}): Promise<TestWorld> {
  const machines: TestMachine[] = [];
  const destroy = async (): Promise<void> => {
    for (const machine of machines) await machine.destroy();
  };
  try {
    const names = ['router', 'first', 'near', 'far', ...(withWorker ? ['worker'] : [])];
    for (const name of names) machines.push(await TestMachine.boot(name));
    const [router, first, near, far, worker] = machines as [TestMachine, TestMachine, TestMachine, TestMachine, TestMachine?];
    await router.sh('ip link add link1 type bridge && ip link set link1 up && ip addr add 10.50.1.254/24 dev link1');
    for (const [index, machine] of [first, near, ...(worker ? [worker] : [])].entries()) {
      await wire(machine, 'eth0', router, `port${index}`);
      await router.sh(`ip link set port${index} master link1`);
      await machine.sh(`ip addr add 10.50.1.${index + 1}/24 dev eth0 && ip route add default via 10.50.1.254`);
    }
    await router.sh('echo 1 > /proc/sys/net/ipv4/ip_forward');
    await plugFar(far, router);
    const world: TestWorld = {
      ...{ first, near, far, worker, router, destroy },
      async replaceFar() {
        await world.far.destroy();
        await eventually('its wire is gone', async () => (await router.run('ip', 'link', 'show', 'link2')).code !== 0);
        world.far = await TestMachine.boot('far');
        machines.push(world.far);
        await plugFar(world.far, router);
      },
    };
    return world;
  } catch (error) {
    await destroy();
    throw error;
  }
}
