// A cluster of real nodes in its cloud, with pods behind load balancers and clients outside of it: this process, on the machine.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { LoadBalancer } from '#cloud';
import { type CloudClient, createCloudClient, listAll } from '#cloud/client';
import type { Node, Service } from '#cloud-provider';
import { eventually, run, TestCluster } from '../cluster/harness.ts';

const image = 'sagong.local/backend:1';
const here = resolve(fileURLToPath(import.meta.url), '..');
/** For what takes a few seconds on a machine with nothing else to do. */
export const patienceMs = 60_000;

export interface Pod {
  metadata: { name: string; uid: string };
  spec: { nodeName: string };
  status: { podIP: string; hostIP: string; phase: string };
}
type Json = Record<string, unknown>;
export interface BackendOptions {
  node?: string;
  /** Selected by the service of this name. */
  app: string;
  delaySeconds?: number;
}

export class CloudWorld {
  readonly cluster: TestCluster;
  readonly #sockets = new Set<Socket>();
  #api: CloudClient | undefined;

  private constructor(cluster: TestCluster) {
    this.cluster = cluster;
  }
  /** `flags`: more of `up`. */
  static async create(nodes: number, ...flags: string[]): Promise<CloudWorld> {
    const world = new CloudWorld(await TestCluster.create());
    try {
      await world.#start(nodes, flags);
    } catch (error) {
      await world.destroy();
      throw error;
    }
    return world;
  }
  async #start(nodes: number, flags: readonly string[]): Promise<void> {
    await this.cluster.up('--nodes', String(nodes), '--dns-upstream', '127.0.0.1:9', ...flags);
    await this.loadImage();
    await eventually('the default service account', () => this.cluster.kubectl('get', 'serviceaccount', 'default'));
    await this.cluster.kubectl('create', 'configmap', 'program', `--from-file=${join(here, 'backend.mjs')}`);
    await this.openApi();
  }
  /** What pods run, onto every node. */
  loadImage(): Promise<void> {
    return this.cluster.loadBusybox(image);
  }
  /** The cloud's API as the cluster's owner. */
  get api(): CloudClient {
    if (!this.#api) throw new Error('the cloud is not up');
    return this.#api;
  }
  async openApi(): Promise<void> {
    this.#api?.close();
    const read = (name: string): Promise<string> => readFile(join(this.cluster.dataDir, 'cloud', name), 'utf8');
    const [settings, token, ca] = await Promise.all([read('cloud.json'), read('customer.token'), read('ca.crt')]);
    const { port } = JSON.parse(settings) as { port: number };
    this.#api = createCloudClient({ url: `https://127.0.0.1:${port}`, token: token.trim(), ca });
  }
  async destroy(): Promise<void> {
    for (const socket of this.#sockets) socket.close();
    this.#api?.close();
    await this.cluster.destroy();
  }

  /** What `sagong down` has left on the machine, as sentences. */
  async traces(): Promise<string[]> {
    const { cluster } = this;
    const linesOf = async (...[command, ...args]: [string, ...string[]]): Promise<string[]> =>
      (await run(command, args)).stdout.split('\n').filter((line) => line.includes(cluster.mark));
    const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').filter((line) => line.includes(cluster.dataDir));
    return [
      ...(await cluster.processes()).map((process) => `process ${String(process)}`),
      ...mounts.map((line) => `mount ${line}`),
      ...(await linesOf('ip', 'netns', 'list')).map((line) => `namespace ${line}`),
      ...(await linesOf('ip', 'link')).map((line) => `link ${line}`),
      ...(await linesOf('nft', 'list', 'tables')),
      ...(existsSync(cluster.dataDir) ? [cluster.dataDir] : []),
    ];
  }

  kubectl(...args: string[]): Promise<string> {
    return this.cluster.kubectl(...args);
  }
  apply(...items: Json[]): Promise<void> {
    return this.cluster.apply(items.map((item) => JSON.stringify(item)).join('\n'));
  }
  patch(kind: string, name: string, change: Json): Promise<string> {
    return this.kubectl('patch', kind, name, '--type', 'merge', '-p', JSON.stringify(change));
  }
  scale(name: string, replicas: number): Promise<string> {
    return this.kubectl('scale', 'deployment', name, '--replicas', String(replicas));
  }

  podSpec({ node, delaySeconds = 0 }: Omit<BackendOptions, 'app'>): Json {
    // The machine's own node: nodes see the programs of the machine.
    const mounts = [
      { name: 'node', path: process.execPath, at: '/bin/node' },
      { name: 'lib', path: '/lib', at: '/lib' },
      { name: 'lib64', path: '/lib64', at: '/lib64' },
    ];
    return {
      ...(node !== undefined && { nodeName: node }),
      terminationGracePeriodSeconds: delaySeconds + 1,
      volumes: [
        ...mounts.map(({ name, path }) => ({ name, hostPath: { path: realpathSync(path) } })),
        { name: 'program', configMap: { name: 'program' } },
      ],
      containers: [
        {
          name: 'backend',
          image,
          imagePullPolicy: 'Never',
          command: ['/bin/node', '/program/backend.mjs'],
          env: [{ name: 'DELAY', value: String(delaySeconds) }],
          volumeMounts: [
            ...mounts.map(({ name, at }) => ({ name, mountPath: at, readOnly: true })),
            { name: 'program', mountPath: '/program' },
          ],
          readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1, timeoutSeconds: 5 },
        },
      ],
    };
  }
  backend(name: string, { app, ...options }: BackendOptions): Json {
    return { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app } }, spec: this.podSpec(options) };
  }
  /** A DaemonSet or a Deployment, named as its service. */
  backends(kind: 'DaemonSet' | 'Deployment', app: string, more: Json = {}, options: Omit<BackendOptions, 'app'> = {}): Json {
    const template = { metadata: { labels: { app } }, spec: this.podSpec(options) };
    return {
      apiVersion: 'apps/v1',
      kind,
      metadata: { name: app },
      spec: { selector: { matchLabels: { app } }, template, ...more },
    };
  }
  async podsReady(app: string): Promise<Pod[]> {
    await this.kubectl('wait', 'pod', '-l', `app=${app}`, '--for', 'condition=Ready', '--timeout', '55s');
    return this.pods(app);
  }
  async pods(app: string): Promise<Pod[]> {
    return (await this.cluster.json<{ items: Pod[] }>('get', 'pods', '-l', `app=${app}`)).items;
  }
  /** TCP 80 to the backends, unless `spec` says otherwise. */
  service(name: string, spec: Json = {}, annotations: Record<string, string> = {}): Json {
    const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
    return {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, annotations },
      spec: { type: 'LoadBalancer', selector: { app: name }, ports, ...spec },
    };
  }
  getService(name: string): Promise<Service> {
    return this.cluster.json<Service>('get', 'service', name);
  }
  async node(name: string): Promise<Node | undefined> {
    return (await this.cluster.json<{ items: Node[] }>('get', 'nodes')).items.find(({ metadata }) => metadata.name === name);
  }
  /** Its address, once it has one. */
  ingress(name: string): Promise<string> {
    return eventually(
      `the address of ${name}`,
      async () => (await this.getService(name)).status?.loadBalancer?.ingress?.[0]?.ip,
      patienceMs,
    );
  }
  events(name: string): Promise<string> {
    return this.kubectl('get', 'events', '--field-selector', `involvedObject.name=${name}`);
  }

  async balancers(): Promise<LoadBalancer[]> {
    return listAll((page) => this.api.listLoadBalancers({ ...page }));
  }
  async balancersOf(service: string): Promise<LoadBalancer[]> {
    return (await this.balancers()).filter(({ tags }) => tags['kubernetes.io/service-name'] === `default/${service}`);
  }
  async balancer(service: string): Promise<LoadBalancer> {
    const [one, ...others] = await this.balancersOf(service);
    if (!one || others.length > 0) throw new Error(`${service} has ${others.length + (one ? 1 : 0)} load balancers`);
    return one;
  }
  /** Names of Nodes whose instances get connections of a service. */
  async healthyTargets(service: string): Promise<string[]> {
    const { targets } = await this.balancer(service);
    const names = new Map((await listAll((page) => this.api.listInstances({ ...page }))).map(({ id, name }) => [id, name]));
    return targets
      .filter(({ health }) => health === 'healthy')
      .map(({ instanceId }) => names.get(instanceId) ?? instanceId)
      .sort();
  }

  /** The machine's address as a load balancer sees it. */
  async machineAddress(balancer: string): Promise<string> {
    const { stdout } = await run('ip', ['-4', 'route', 'get', balancer]);
    return / src ([\d.]+)/.exec(stdout)?.[1] ?? '';
  }
  /** From a pod: `pod client`, or why there is no answer. */
  async askFromPod(pod: string, address: string, port = 80): Promise<string> {
    // busybox's own `wget -T` crashes in some builds.
    const words = `timeout 5 wget -qO- http://${address}:${port}/`.split(' ');
    const { stdout, stderr } = await this.cluster.tryKubectl('exec', pod, '--', ...words);
    return stdout.trim() || (stderr.includes('refused') ? 'ECONNREFUSED' : 'nothing');
  }
  /** One pod of an app reaches another by its address. */
  async podsReachPods(app: string): Promise<void> {
    const [one, two] = await this.podsReady(app);
    const answer = await this.askFromPod(one?.metadata.name ?? '', two?.status.podIP ?? '', 8080);
    expect(answer).toContain(two?.metadata.name);
  }
  /** A Service's load balancer answers this machine unless it lets in others only. */
  async letsIn(name: string, address: string): Promise<void> {
    await this.patch('service', name, { spec: { loadBalancerSourceRanges: ['192.0.2.0/24'] } });
    await unreachable(address);
    await this.patch('service', name, { spec: { loadBalancerSourceRanges: null } });
    await reachable(address, 80, name);
  }
  async udpClient(): Promise<UdpClient> {
    const socket = createSocket('udp4');
    socket.on('error', () => {});
    socket.bind(0);
    await once(socket, 'listening');
    this.#sockets.add(socket);
    return new UdpClient(socket);
  }
}

/** From the machine, over a connection of its own: `pod client`, or why there is no answer. */
export function ask(address: string, port = 80, timeoutMs = 10_000): Promise<string> {
  return new Promise((done) => {
    const request = get({ host: address, port, path: '/', agent: false, timeout: timeoutMs }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => done(text.trim())).on('error', (error: NodeJS.ErrnoException) => done(error.code ?? 'error'));
    });
    request.on('timeout', () => request.destroy(Object.assign(new Error('no answer'), { code: 'nothing' })));
    request.on('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
  });
}
/** What a port answers to `x`: its first line. */
export async function say(address: string, port: number): Promise<string> {
  const socket = connect({ host: address, port, timeout: 10_000 });
  socket.on('timeout', () => socket.destroy());
  socket.write('x\r\n');
  let text = '';
  try {
    for await (const chunk of socket) text += String(chunk);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
  return text.trim();
}
export const podOf = (answer: string): string => answer.split(' ')[0] ?? '';
export const clientOf = (answer: string): string => answer.split(' ')[1] ?? '';
/** The pods that answer to so many questions, or why there are none. */
export async function askMany(count: number, address: string, port = 80): Promise<string[]> {
  const answers = new Set<string>();
  for (let i = 0; i < count; i++) answers.add(podOf(await ask(address, port)));
  return [...answers].sort();
}
/** Waits until a pod of the app answers. */
export const reachable = (address: string, port = 80, app = ''): Promise<string> =>
  eventually(
    `an answer from ${address}:${port}`,
    async () => {
      const answer = await ask(address, port, 3_000);
      if (answer.includes(' ') && answer.startsWith(app)) return answer;
      throw new Error(answer);
    },
    patienceMs,
  );
export const unreachable = (address: string, port = 80): Promise<string> =>
  eventually(
    `no answer from ${address}:${port}`,
    async () => {
      const answer = await ask(address, port, 1_000);
      if (!answer.includes(' ')) return answer;
      throw new Error(answer);
    },
    patienceMs,
  );

/** A client on the machine that keeps its port. */
export class UdpClient {
  readonly #socket: Socket;
  #sent = 0;
  constructor(socket: Socket) {
    this.#socket = socket;
  }
  /** `pod client`, or `nothing`. */
  ask(host: string, port: number, timeoutMs = 500): Promise<string> {
    const text = `m${++this.#sent}`;
    return new Promise((resolve) => {
      const done = (answer: string): void => {
        clearTimeout(timer);
        this.#socket.off('message', onMessage);
        resolve(answer);
      };
      const onMessage = (message: Buffer): void => {
        const [pod, client, about] = message.toString().split(' ');
        if (about === text) done(`${pod} ${client}`);
      };
      const timer = setTimeout(() => done('nothing'), timeoutMs);
      this.#socket.on('message', onMessage);
      this.#socket.send(text, port, host);
    });
  }
  reachable(host: string, port: number, app = ''): Promise<string> {
    return eventually(
      `a datagram from ${host}:${port}`,
      async () => {
        const answer = await this.ask(host, port);
        if (answer.includes(' ') && answer.startsWith(app)) return answer;
        throw new Error(answer);
      },
      patienceMs,
    );
  }
}
/** Why a datagram is not taken, from a socket of its own: an error code, or `nothing`. */
export async function refusedUdp(host: string, port: number): Promise<string> {
  const socket = createSocket('udp4');
  try {
    socket.connect(port, host);
    await once(socket, 'connect');
    const said = Promise.race([once(socket, 'error'), once(socket, 'message'), once(AbortSignal.timeout(1_000), 'abort')]);
    socket.send('x');
    const [first] = (await said) as [unknown];
    if (first instanceof Error) return (first as NodeJS.ErrnoException).code ?? first.message;
    return Buffer.isBuffer(first) ? first.toString() : 'nothing';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    socket.close();
  }
}
