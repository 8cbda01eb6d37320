// Clusters put together from upstream's components and ours, each a process of its own that finds the others by kubeconfig, as on a
// hand-made cluster. Upstream's programs come from the folder named by SAGONG_UPSTREAM_BIN (see build.sh).
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, createRestTransport } from '#client';
import { ephemeralPki } from '#cluster';
import { systemClock, systemRng } from '#host';
import { createSimulatedNode, type Kubelet } from '#kubelet';
import { silentLogger } from '#utils';
import { binary, eventually } from '../../e2e/cluster/harness.ts';
import { freePort } from '../../support/ports.ts';
import { Api } from './api.ts';

export type Maker = 'sagong' | 'upstream';
export type Component = 'kube-apiserver' | 'kube-scheduler' | 'kube-controller-manager' | 'cloud-controller-manager';

/** Where upstream's programs are; '': nowhere. */
export const upstreamBin = process.env['SAGONG_UPSTREAM_BIN'] ?? '';
/** Whether upstream's program of that name is there. */
export const hasUpstream = (name: Component | 'kubeadm' | 'kubelet'): boolean =>
  upstreamBin !== '' && existsSync(join(upstreamBin, name));

const startTimeoutMs = 60_000;
export const nodeNames = ['node-1', 'node-2'];
export const clusterCidr = '10.244.0.0/16';
const users: readonly [token: string, user: string, groups: string][] = [
  ['admin', 'admin', 'system:masters'],
  ['kube-scheduler', 'system:kube-scheduler', ''],
  ['kube-controller-manager', 'system:kube-controller-manager', ''],
  // Its loops act as service accounts with upstream's bootstrap roles.
  ['cloud-controller-manager', 'system:cloud-controller-manager', 'system:masters'],
  ...nodeNames.map((name): [string, string, string] => [name, `system:node:${name}`, 'system:nodes']),
];

interface Process {
  name: string;
  child: ChildProcess;
  log: string;
}

export class World {
  readonly #dir: string;
  readonly #processes: Process[] = [];
  readonly #kubelets: Kubelet[] = [];

  private constructor(dir: string) {
    this.#dir = dir;
  }

  static async create(): Promise<World> {
    const world = new World(await mkdtemp(join(tmpdir(), 'sagong-upstream-')));
    const pki = ephemeralPki();
    const files = {
      'ca.crt': pki.authority.cert,
      'ca.key': pki.authority.key,
      'sa.key': pki.serviceAccount.privateKey,
      'tokens.csv': users.map(([token, user, groups], uid) => `${token},${user},${uid},"${groups}"\n`).join(''),
    };
    for (const [name, text] of Object.entries(files)) await writeFile(world.#path(name), text, { mode: 0o600 });
    return world;
  }

  /** Everything a process has said so far. */
  log(name: string): string {
    return this.#processes
      .filter((process) => process.name === name)
      .map(({ log }) => log)
      .join('');
  }

  async startEtcd(): Promise<string> {
    const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
    const addresses = [`--listen-client-urls=${client}`, `--advertise-client-urls=${client}`];
    const peers = [`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`, `--initial-cluster=default=${peer}`];
    this.#spawn('etcd', 'etcd', [`--data-dir=${this.#path('etcd')}`, ...addresses, ...peers]);
    return client;
  }

  /** Without `etcd` the embedded store is used, which only ours has. Resolves when it is ready. */
  async startApiServer(maker: Maker, etcd?: string, extra: readonly string[] = []): Promise<Api> {
    const port = await freePort();
    const issuer = 'https://kubernetes.default.svc';
    this.#start('kube-apiserver', maker, [
      ...(etcd ? [`--etcd-servers=${etcd}`] : [`--data-dir=${this.#path('store')}`]),
      ...(maker === 'upstream' ? [`--cert-dir=${this.#path('upstream-certificates')}`, '--endpoint-reconciler-type=none'] : []),
      ...[`--secure-port=${port}`, '--bind-address=127.0.0.1', '--token-auth-file=tokens.csv', '--authorization-mode=Node,RBAC'],
      ...['--service-account-key-file=sa.key', '--service-account-signing-key-file=sa.key', `--service-account-issuer=${issuer}`],
      ...['--service-cluster-ip-range=10.96.0.0/16', '--enable-admission-plugins=NodeRestriction', ...extra],
    ]);
    const api = new Api(`https://127.0.0.1:${port}`, 'admin');
    const ready = async (): Promise<boolean> => (await api.raw('GET', '/readyz')).status === 200;
    await eventually(`${maker} kube-apiserver`, ready, startTimeoutMs).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.log('kube-apiserver').slice(-4000)}`);
    });
    return api;
  }

  async startScheduler(maker: Maker, api: Api, extra: readonly string[] = []): Promise<void> {
    this.#start('kube-scheduler', maker, [await this.#kubeconfig('kube-scheduler', api), '--secure-port=0', ...extra]);
  }

  async startControllerManager(maker: Maker, api: Api, extra: readonly string[] = []): Promise<void> {
    this.#start('kube-controller-manager', maker, [
      await this.#kubeconfig('kube-controller-manager', api),
      ...['--secure-port=0', '--use-service-account-credentials', '--root-ca-file=ca.crt', ...extra],
      ...['--cluster-signing-cert-file=ca.crt', '--cluster-signing-key-file=ca.key'],
      ...(maker === 'upstream' ? ['--service-account-private-key-file=sa.key'] : []),
    ]);
  }

  /** With a cloud whose machines are the nodes. */
  async startCloudControllerManager(maker: Maker, api: Api): Promise<void> {
    const machines =
      maker === 'upstream' ? nodeNames.join('\n') : JSON.stringify({ instances: nodeNames.map((name) => ({ name })) });
    await writeFile(this.#path('cloud-config'), machines);
    this.#start('cloud-controller-manager', maker, [
      await this.#kubeconfig('cloud-controller-manager', api),
      ...['--cloud-provider=fake', `--cloud-config=${this.#path('cloud-config')}`, `--cluster-cidr=${clusterCidr}`],
      ...['--use-service-account-credentials', '--secure-port=0', '--route-reconciliation-period=1s'],
    ]);
  }

  /** Our kubelets over the simulated runtime, each over TLS with the rights of its node. `cloud`: a cloud completes them. */
  async startNodes(api: Api, cloud = false): Promise<void> {
    const external = cloud ? ({ cloudProvider: 'external', routesFromCloud: true } as const) : {};
    const clock = systemClock();
    for (const name of nodeNames) {
      const config = { server: api.url, insecure: true, token: name };
      const client = createClient(createRestTransport({ config, clock, userAgent: 'kubelet' }));
      const kubelet = createSimulatedNode({ name, ...external }, { client, clock, rng: systemRng(), logger: silentLogger });
      this.#kubelets.push(kubelet);
      await kubelet.start();
    }
  }

  async stop(): Promise<void> {
    for (const kubelet of this.#kubelets) kubelet.close();
    for (const { child } of this.#processes.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    await rm(this.#dir, { recursive: true, force: true });
  }

  #path(name: string): string {
    return join(this.#dir, name);
  }

  async #kubeconfig(name: Component, { url }: Api): Promise<string> {
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name, cluster: { server: url, 'insecure-skip-tls-verify': true } }],
      users: [{ name, user: { token: name } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      'current-context': name,
    };
    await writeFile(this.#path(`${name}.kubeconfig`), JSON.stringify(config), { mode: 0o600 });
    return `--kubeconfig=${this.#path(`${name}.kubeconfig`)}`;
  }

  #start(name: Component, maker: Maker, args: readonly string[]): void {
    if (maker === 'upstream') this.#spawn(name, join(upstreamBin, name), args);
    else this.#spawn(name, process.execPath, [binary, name, ...args]);
  }

  #spawn(name: string, command: string, args: readonly string[]): void {
    const child = spawn(command, args, { cwd: this.#dir, stdio: ['ignore', 'pipe', 'pipe'] });
    const process: Process = { name, child, log: '' };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (process.log += chunk.toString()));
    child.once('error', (error) => (process.log += String(error)));
    this.#processes.push(process);
  }
}
