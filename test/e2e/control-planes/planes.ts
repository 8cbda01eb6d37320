// The machines of a control plane of three, and what can happen to one of them.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, type Output, run, type TestCluster } from '../cluster/harness.ts';

export const failureKinds = ['switched off', 'paused', 'cut off'] as const;
export type FailureKind = (typeof failureKinds)[number];
/** What runs on each machine. */
export const programs = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'cloud-controller-manager',
  'control-plane-agent',
] as const;
export type Program = (typeof programs)[number];

export class Planes {
  readonly names = [1, 2, 3].map((number) => `control-plane-${number}`);
  readonly #cluster: TestCluster;
  #paused: string[] = [];

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
  }
  get kubeconfig(): string {
    return join(this.#cluster.dataDir, 'kubeconfig');
  }
  async node(action: string, name: string): Promise<void> {
    const { code, stdout, stderr } = await this.#cluster.sagong('node', action, name);
    if (code !== 0) throw new Error(`sagong node ${action} ${name}: ${stdout}${stderr}`);
  }
  async inside(name: string, ...words: string[]): Promise<Output> {
    return run('nsenter', [await this.#cluster.nodeNetns(name), ...words]);
  }
  /** Resolves when all apiservers are ready. */
  healthy(): Promise<unknown> {
    const count = async (): Promise<number> => (await this.#cluster.sagong('status')).stdout.match(/ healthy$/gm)?.length ?? 0;
    return eventually('all apiservers are ready', async () => (await count()) === this.names.length, 120_000);
  }
  async etcdctl(name: string, ...words: string[]): Promise<string> {
    return (await this.#etcdctl(name, ...words)).stdout;
  }
  async #etcdctl(name: string, ...words: string[]): Promise<Output> {
    const pki = join(this.#cluster.dataDir, 'control-planes', name, 'pki', 'etcd');
    const flags = ['--cacert', `${pki}/ca.crt`, '--cert', `${pki}/peer.crt`, '--key', `${pki}/peer.key`];
    const where = ['--endpoints', '127.0.0.1:2379'];
    return this.inside(name, 'env', 'ETCDCTL_API=3', 'etcdctl', ...flags, ...where, ...words);
  }
  /** Resolves when all apiservers are ready, and all members of etcd have a vote and agree. */
  async whole(): Promise<void> {
    await this.healthy();
    const isVoting = (line: string): boolean => / started, /.test(line) && line.endsWith(', false');
    await eventually(
      'etcd is whole',
      async () => {
        for (const name of this.names) {
          const members = (await this.etcdctl(name, 'member', 'list')).trim().split('\n');
          if (members.length !== this.names.length || !members.every(isVoting)) return false;
          if ((await this.#etcdctl(name, 'endpoint', 'health')).code !== 0) return false;
        }
        return true;
      },
      120_000,
    );
  }
  /** Sends a signal to a program of a machine, or to all that runs there; where it does not run, to nobody. */
  async signal(name: string, signal: 'KILL' | 'STOP' | 'CONT', program?: Program): Promise<void> {
    await run('kill', [`-${signal}`, ...(await this.pids(name, program))]);
  }
  /** Processes of a machine, or those of one program. */
  async pids(name: string, program?: Program): Promise<string[]> {
    const netns = (await this.#cluster.nodeNetns(name)).slice('--net=/run/netns/'.length);
    const all = (await run('ip', ['netns', 'pids', netns])).stdout.split('\n').filter((pid) => pid !== '');
    if (program === undefined) return all;
    const found: string[] = [];
    for (const pid of all) {
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
      if (words.includes(program)) found.push(pid);
    }
    return found;
  }
  /** Whose etcd leads: the worst one to lose. */
  async leader(): Promise<string> {
    for (const name of this.names) if ((await this.etcdctl(name, 'endpoint', 'status')).split(', ')[4] === 'true') return name;
    throw new Error('no member of etcd leads');
  }
  /** One at a time. */
  async fail(kind: FailureKind, name: string): Promise<void> {
    if (kind === 'switched off') return this.node('stop', name);
    if (kind === 'cut off') return this.#cut(name, '-I');
    this.#paused = await this.pids(name);
    await run('kill', ['-STOP', ...this.#paused]);
  }
  async mend(kind: FailureKind, name: string): Promise<void> {
    if (kind === 'switched off') return this.node('start', name);
    if (kind === 'cut off') return this.#cut(name, '-D');
    await run('kill', ['-CONT', ...this.#paused]);
  }

  async #cut(name: string, action: string): Promise<void> {
    await this.inside(name, 'iptables', '-w', action, 'INPUT', '!', '-i', 'lo', '-j', 'DROP');
    await this.inside(name, 'iptables', '-w', action, 'OUTPUT', '!', '-o', 'lo', '-j', 'DROP');
  }
}
