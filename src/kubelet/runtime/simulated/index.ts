// A runtime without processes: containers go Running, probes pass, exits follow annotations (see behaviour.ts). Thousands of simulated nodes
// fit in one process: a running container costs no timer. Nodes, logs and exec say honestly that nothing runs.
import type { Container, Pod } from '#api/core/v1';
import { isHostNetworkPod } from '#component-helpers/pod';
import type { Clock, Rng, Timer } from '#utils';
import { hashContainer } from '../../container/hash.ts';
import { type ContainerRecord, emptyRecord, type PodRecord, type SandboxRecord } from '../../container/types.ts';
import { PodFailure, StartFailure } from '../../container/runtime.ts';
import type {
  ContainerUsage,
  CreateRequest,
  ExecOutcome,
  ImageInfo,
  ImageService,
  PodRuntime,
  RuntimeHealth,
} from '../../container/runtime.ts';
import { AddressPool } from './addresses.ts';
import { type Behaviour, behaviourOf, imageError, loadOf, type SimulationDefaults } from './behaviour.ts';
import { CpuMeter, totalUsage, usageOf } from './usage.ts';

export interface SimulatedRuntimeOptions {
  clock: Clock;
  rng: Rng;
  defaults?: Partial<SimulationDefaults>;
  /** Used until the node has pod CIDRs of its own. Absent: pods wait for those. */
  podCIDR?: string;
}

interface SimulatedContainer {
  record: ContainerRecord;
  pod: string;
  behaviour: Behaviour;
  spec: { pod: Pod; container: Container };
  meter: CpuMeter;
  timer?: Timer;
  /** Ends the waiting for its start. */
  abandon?(): void;
}

interface SimulatedPod {
  record: PodRecord;
}

const imageSizeBytes = 10_000_000;
const refusal = 'the container runtime is simulated: no process exists';

/** Images are present as soon as they are asked for. */
class SimulatedImages implements ImageService {
  readonly #images = new Map<string, ImageInfo>();

  async status(image: string): Promise<ImageInfo | undefined> {
    return this.#images.get(image);
  }
  async pull(image: string, pod: Pod): Promise<string> {
    const error = imageError(pod);
    if (error !== undefined) throw new Error(error);
    this.#images.set(image, { id: `simulated:${image}`, repoTags: [image], repoDigests: [], sizeBytes: imageSizeBytes });
    return `simulated:${image}`;
  }
  async list(): Promise<ImageInfo[]> {
    return [...this.#images.values()];
  }
  async remove(image: string): Promise<void> {
    this.#images.delete(image);
  }
  async usage(): Promise<undefined> {
    return undefined;
  }
}

export class SimulatedRuntime implements PodRuntime {
  readonly name = 'simulated';
  readonly simulated = true;
  readonly images = new SimulatedImages();
  readonly #clock: Clock;
  readonly #rng: Rng;
  readonly #defaults: SimulationDefaults;
  readonly #pods = new Map<string, SimulatedPod>();
  readonly #containers = new Map<string, SimulatedContainer>();
  #pools: AddressPool[];
  #onChange: (uid: string | undefined) => void = () => {};
  /** What a pod uses may change while it runs. */
  #podNow: (uid: string) => Pod | undefined = () => undefined;
  #cidrs = '';
  #goneCpuNs = 0;

  constructor(options: SimulatedRuntimeOptions) {
    this.#clock = options.clock;
    this.#rng = options.rng;
    this.#defaults = { startDelayMs: 0, jobRunMs: 1000, ...options.defaults };
    this.#pools = options.podCIDR === undefined ? [] : [new AddressPool(options.podCIDR)];
  }

  async version(): Promise<string> {
    return '1.0.0';
  }
  async health(): Promise<RuntimeHealth> {
    return {};
  }
  async subscribe(onChange: (uid: string | undefined) => void, podNow: (uid: string) => Pod | undefined): Promise<boolean> {
    this.#onChange = onChange;
    this.#podNow = podNow;
    return true;
  }
  async list(): Promise<PodRecord[]> {
    return [...this.#pods.values()].map(({ record }) => record);
  }
  async get({ uid, namespace, name }: { uid: string; namespace: string; name: string }): Promise<PodRecord> {
    const record = this.#pods.get(uid)?.record;
    return record
      ? { ...record, sandboxes: [...record.sandboxes], containers: [...record.containers] }
      : emptyRecord(uid, namespace, name);
  }
  async preparePod(): Promise<void> {}
  async prepared(): Promise<string[]> {
    return [];
  }
  async cleanupPod(): Promise<void> {}

  async createSandbox(pod: Pod, attempt: number): Promise<string> {
    const { uid = '', namespace = '', name = '' } = pod.metadata;
    const hostNetwork = isHostNetworkPod(pod);
    const ips = hostNetwork ? [] : this.#allocate();
    const sandbox: SandboxRecord = { id: this.#id(), ready: true, attempt, createdAtMs: this.#clock.now(), hostNetwork, ips };
    const known = this.#pods.get(uid) ?? { record: emptyRecord(uid, namespace, name) };
    known.record.sandboxes.unshift(sandbox);
    this.#pods.set(uid, known);
    return sandbox.id;
  }
  async stopSandbox(id: string): Promise<void> {
    const sandbox = this.#sandbox(id)?.sandbox;
    if (!sandbox?.ready) return;
    sandbox.ready = false;
    this.#release(sandbox);
  }
  async removeSandbox(id: string): Promise<void> {
    const found = this.#sandbox(id);
    if (found === undefined) return;
    if (found.sandbox.ready) this.#release(found.sandbox);
    const { record } = found.pod;
    record.sandboxes = record.sandboxes.filter((sandbox) => sandbox.id !== id);
    if (record.sandboxes.length === 0 && record.containers.length === 0) this.#pods.delete(record.uid);
  }

  async createContainer({ pod, container, restartCount, image }: CreateRequest): Promise<string> {
    const record: ContainerRecord = {
      id: this.#id(),
      name: container.name,
      image: container.image ?? '',
      imageRef: image.id,
      hash: hashContainer(container),
      restartCount,
      state: 'created',
      createdAtMs: this.#clock.now(),
      startedAtMs: 0,
      finishedAtMs: 0,
      exitCode: 0,
      reason: '',
      message: '',
    };
    const uid = pod.metadata.uid ?? '';
    const known = this.#pods.get(uid);
    if (known === undefined) throw new StartFailure('CreateContainerError', `sandbox of pod ${uid} not found`);
    known.record.containers.unshift(record);
    this.#containers.set(record.id, {
      record,
      pod: uid,
      behaviour: behaviourOf(pod, container as Container, this.#defaults),
      spec: { pod, container: container as Container },
      meter: new CpuMeter(this.#clock.now()),
    });
    return record.id;
  }
  async resizeContainer(): Promise<void> {}
  async startContainer(id: string): Promise<void> {
    const container = this.#containers.get(id);
    if (container === undefined) throw new StartFailure('RunContainerError', `container ${id} not found`);
    const { startDelayMs, runMs, exitCode, reason, message } = container.behaviour;
    // As long as this takes nobody else acts on the pod: a container that is only created would be made once more.
    if (startDelayMs > 0) await this.#wait(container, startDelayMs);
    container.record.state = 'running';
    container.record.startedAtMs = this.#clock.now();
    container.meter.read(this.#clock.now(), loadOf(container.spec.pod, container.spec.container).cpuNanoCores);
    if (runMs !== undefined) this.#after(container, runMs, () => this.#exit(container, exitCode, reason, message));
  }
  async stopContainer(id: string): Promise<void> {
    const container = this.#containers.get(id);
    if (container === undefined || container.record.state === 'exited') return;
    this.#exit(container, 0, 'Completed', '');
    this.#onChange(container.pod);
  }
  async removeContainer(id: string): Promise<void> {
    const container = this.#containers.get(id);
    if (container === undefined) return;
    container.timer?.cancel();
    container.abandon?.();
    this.#containers.delete(id);
    const pod = this.#pods.get(container.pod);
    if (pod) pod.record.containers = pod.record.containers.filter((record) => record.id !== id);
  }
  async exec(): Promise<ExecOutcome> {
    throw new Error(refusal);
  }
  async usage(): Promise<Map<string, ContainerUsage>> {
    const now = this.#clock.now();
    const used = new Map<string, ContainerUsage>();
    for (const [id, { record, pod, spec, meter }] of this.#containers) {
      if (record.state !== 'running') continue;
      used.set(id, usageOf(meter, loadOf(this.#podNow(pod) ?? spec.pod, spec.container), now));
    }
    return used;
  }
  /** What all pods of the node use; the time of those that are gone stays counted. */
  async nodeUsage(): Promise<ContainerUsage> {
    const total = totalUsage((await this.usage()).values());
    return { ...total, cpuUsageCoreNanoSeconds: (total.cpuUsageCoreNanoSeconds ?? 0) + this.#goneCpuNs };
  }
  async rotateLogs(): Promise<void> {}
  async updatePodCIDRs(cidrs: readonly string[]): Promise<void> {
    if (cidrs.length === 0 || cidrs.join() === this.#cidrs) return;
    this.#cidrs = cidrs.join();
    this.#pools = cidrs.map((cidr) => new AddressPool(cidr));
    this.#onChange(undefined);
  }
  /** Whether a running container counts as ready. */
  isReady(id: string): boolean {
    return this.#containers.get(id)?.behaviour.ready ?? false;
  }
  close(): void {
    for (const { timer } of this.#containers.values()) timer?.cancel();
  }

  #id(): string {
    return (this.#rng.uuid() + this.#rng.uuid()).replaceAll('-', '');
  }
  #allocate(): string[] {
    if (this.#pools.length === 0)
      throw new PodFailure('FailedCreatePodSandBox', 'the node has no pod CIDR yet', { transient: true });
    return this.#pools.map((pool) => {
      const address = pool.allocate();
      if (address === undefined) throw new PodFailure('FailedCreatePodSandBox', "no address is left in the node's pod CIDR");
      return address;
    });
  }
  #release(sandbox: SandboxRecord): void {
    for (const address of sandbox.ips) for (const pool of this.#pools) pool.release(address);
  }
  #sandbox(id: string): { pod: SimulatedPod; sandbox: SandboxRecord } | undefined {
    for (const pod of this.#pods.values()) {
      const sandbox = pod.record.sandboxes.find((candidate) => candidate.id === id);
      if (sandbox) return { pod, sandbox };
    }
    return undefined;
  }
  /** Runs `step` now, or later with a notice of the change. */
  #after(container: SimulatedContainer, delayMs: number, step: () => void): void {
    if (delayMs <= 0) return step();
    container.timer = this.#clock.setTimer(delayMs, () => {
      step();
      this.#onChange(container.pod);
    });
  }
  /** Rejects when the container is stopped or removed meanwhile. */
  #wait(container: SimulatedContainer, delayMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      container.abandon = () => reject(new StartFailure('RunContainerError', `container ${container.record.id} was stopped`));
      container.timer = this.#clock.setTimer(delayMs, () => {
        delete container.abandon;
        resolve();
      });
    });
  }
  #exit(container: SimulatedContainer, exitCode: number, reason: string, message: string): void {
    container.timer?.cancel();
    container.abandon?.();
    const now = this.#clock.now();
    this.#goneCpuNs += container.meter.read(now, 0);
    Object.assign(container.record, {
      state: 'exited',
      startedAtMs: container.record.startedAtMs || now,
      finishedAtMs: now,
      exitCode,
      reason,
      message,
    });
  }
}
