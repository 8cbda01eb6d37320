// The machines of a control plane of three, and what can happen to one of them.
import { join } from 'node:path';
import { eventually, type Output, run, type TestCluster } from '../cluster/harness.ts';

export const failureKinds = ['switched off', 'paused', 'cut off'] as const;
export type FailureKind = (typeof failureKinds)[number];

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
    const pki = join(this.#cluster.dataDir, 'control-planes', name, 'pki', 'etcd');
    const flags = ['--cacert', `${pki}/ca.crt`, '--cert', `${pki}/peer.crt`, '--key', `${pki}/peer.key`];
    const where = ['--endpoints', '127.0.0.1:2379'];
    return (await this.inside(name, 'env', 'ETCDCTL_API=3', 'etcdctl', ...flags, ...where, ...words)).stdout;
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
    this.#paused = await this.#pids(name);
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
  /** Processes of a machine. */
  async #pids(name: string): Promise<string[]> {
    const netns = (await this.#cluster.nodeNetns(name)).slice('--net=/run/netns/'.length);
    return (await run('ip', ['netns', 'pids', netns])).stdout.trim().split('\n');
  }
}
