// A node for tests: a containerd of its own, the kubelet over it, and the unit tests' small API.
import type { Pod } from '#api/core/v1';
import type { KubeObject } from '#apimachinery/meta';
import { createClient } from '#client';
import { systemClock, systemRng } from '#host';
import { defaultOptions, type KubeletDeps, type KubeletHandle, type KubeletOptions, runKubelet } from '#kubelet';
import { silentLogger } from '#utils';
import { FakeApi } from '../../../src/kubelet/test-support/fake-api.ts';
import { type PrivateContainerd, startContainerd, until } from './private-containerd.ts';

const podResource = { group: '', version: 'v1', resource: 'pods' };
const waitMs = 60_000;

interface RecordedEvent extends KubeObject {
  involvedObject?: { name: string };
  type: string;
  reason: string;
  message: string;
}

/** A container that sleeps until it is told to stop. */
export const sleeper = (extra: object = {}) => ({
  name: 'app',
  image: 'busybox',
  imagePullPolicy: 'IfNotPresent',
  command: ['sleep', '3600'],
  terminationMessagePath: '/dev/termination-log',
  ...extra,
});

/** A shell that ends at once when it is told to stop. */
export const shell = (script: string, extra: object = {}) => sleeper({ command: ['sh', '-c', script], ...extra });

export class NodeWorld {
  readonly api: FakeApi;
  readonly containerd: PrivateContainerd;
  node!: KubeletHandle;
  readonly #options: Partial<KubeletOptions>;
  readonly #deps: Partial<KubeletDeps>;

  private constructor(api: FakeApi, containerd: PrivateContainerd, options: Partial<KubeletOptions>, deps: Partial<KubeletDeps>) {
    this.api = api;
    this.containerd = containerd;
    this.#options = options;
    this.#deps = deps;
  }
  static async start(
    subnet: string,
    options: Partial<KubeletOptions> = {},
    deps: Partial<KubeletDeps> = {},
    api = new FakeApi(),
  ): Promise<NodeWorld> {
    const world = new NodeWorld(api, await startContainerd(subnet), options, deps);
    try {
      await world.startKubelet();
    } catch (error) {
      await world.stop();
      throw error;
    }
    return world;
  }
  async startKubelet(more: Partial<KubeletOptions> = {}): Promise<void> {
    const { directory, endpoint } = this.containerd;
    const base: KubeletOptions = {
      ...defaultOptions('n1'),
      nodeIPs: ['127.0.0.1'],
      rootDir: `${directory}/kubelet`,
      podLogsDir: `${directory}/pod-logs`,
      containerRuntimeEndpoint: endpoint,
      cgroupRoot: directory.slice(directory.lastIndexOf('/') + 1),
      clusterDNS: ['10.96.0.10'],
    };
    const deps = { client: createClient(this.api), clock: systemClock(), rng: systemRng(), logger: testLogger() };
    this.node = await runKubelet({ ...base, ...this.#options, ...more }, { ...deps, ...this.#deps });
  }
  async stop(): Promise<void> {
    for (const object of [...this.api.objects.values()].filter(({ kind }) => kind === 'Pod'))
      await this.end(object.metadata.name ?? '').catch(() => {});
    try {
      await this.node?.close();
    } finally {
      await this.containerd.stop();
    }
  }

  put(name: string, spec: object, metadata: Partial<Pod['metadata']> = {}): void {
    const defaults = {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 2,
      enableServiceLinks: true,
      dnsPolicy: 'ClusterFirst',
    };
    const identity = { name, namespace: 'default', uid: `uid-${name}`, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' };
    this.api.put('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...identity, ...metadata },
      spec: { nodeName: 'n1', ...defaults, ...spec },
      status: { phase: 'Pending' },
    } as Pod);
  }
  /** Changes a pod in the API. */
  change(name: string, edit: (pod: Pod) => void): void {
    const pod = structuredClone(this.pod(name)) as Pod;
    edit(pod);
    this.api.put('pods', pod);
  }
  pod(name: string): Pod | undefined {
    return this.api.get<Pod>('pods', 'default', name);
  }
  /** Waits until the pod's status is as `check` wants; throws with what it was. */
  async status(name: string, what: string, check: (status: NonNullable<Pod['status']>) => unknown): Promise<void> {
    try {
      await until(what, waitMs, async () => Boolean(check(this.pod(name)?.status ?? {})));
    } catch (error) {
      const told = `${JSON.stringify(this.pod(name)?.status)}\n${this.events(name).join('\n')}`;
      throw new Error(`${name}: ${(error as Error).message}\n${told}`, { cause: error });
    }
  }
  ready(name: string): Promise<void> {
    const isReady = ({ type, status }: { type: string; status: string }): boolean => type === 'Ready' && status === 'True';
    return this.status(name, 'is ready', ({ conditions }) => conditions?.some(isReady));
  }
  async end(name: string): Promise<void> {
    await createClient(this.api).resource<Pod>(podResource, 'default').delete(name);
    await until(`${name} is gone`, waitMs, async () => this.pod(name) === undefined);
  }
  async run(name: string, command: string | string[], container = 'app'): Promise<string> {
    const { containerStatuses = [], initContainerStatuses = [] } = this.pod(name)?.status ?? {};
    const status = [...containerStatuses, ...initContainerStatuses].find((candidate) => candidate.name === container);
    const id = status?.containerID?.split('://')[1] ?? '';
    const words = typeof command === 'string' ? ['sh', '-c', command] : command;
    const { stdout, stderr } = await this.node.kubelet.parts.runtime.exec(id, words, 5000);
    return Buffer.concat([stdout, stderr]).toString('utf8');
  }
  /** `Reason: message` of every event about the object. */
  events(name: string): string[] {
    return ([...this.api.objects.values()] as RecordedEvent[])
      .filter(({ involvedObject }) => involvedObject?.name === name)
      .map(({ reason, message }) => `${reason}: ${message}`);
  }
  async event(name: string, expected: string | RegExp): Promise<void> {
    const found = (text: string): boolean => (typeof expected === 'string' ? text === expected : expected.test(text));
    await until(`event ${expected} of ${name}`, waitMs, async () => this.events(name).some(found)).catch((error: unknown) => {
      throw new Error(`${(error as Error).message}: ${this.events(name).join('\n')}`, { cause: error });
    });
  }
}

/** Silent unless DEBUG_KUBELET is set. */
function testLogger(): typeof silentLogger {
  if (!process.env['DEBUG_KUBELET']) return silentLogger;
  const write = (message: string, values?: object): void =>
    void process.stderr.write(`${message} ${JSON.stringify(values ?? {})}\n`);
  const logger = { error: write, warn: write, info: write, debug: write, with: () => logger };
  return logger;
}
