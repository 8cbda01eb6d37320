// Puts one node's parts together and keeps them going (upstream pkg/kubelet/kubelet.go).
import type { Node, Pod } from '#api/core/v1';
import { isStaticPod } from '#component-helpers/pod';
import type { EventRecorder, InformerFactory, KubeClient } from '#client';
import { bound, gitVersion } from '#component-base';
import type { Clock, Logger, Rng, Timer } from '#utils';
import type { CgroupManager } from './cgroups/manager.ts';
import { type PodEvents, podEvents } from './events.ts';
import { type LifecycleHooks, noHooks } from './hooks/hooks.ts';
import { ImageManager } from './images/manager.ts';
import { relistMs, relistWithoutEventsMs, unhealthyRelistMs } from './limits.ts';
import { NodeManager } from './node/manager.ts';
import type { NodeState } from './node/state.ts';
import type { Machine, NodeFacts } from './node/status.ts';
import type { SysctlRules } from './node/sysctls.ts';
import type { KubeletOptions } from './options.ts';
import type { ProbeManager } from './probes/types.ts';
import type { ImageInfo, PodRuntime, RegistryAuth, RuntimeHealth } from './container/runtime.ts';
import { StatusManager } from './status/manager.ts';
import type { MountedVolume } from './container/volume.ts';
import { PodExecutor, type PodNetwork } from './workers/executor.ts';
import { PodWorkers } from './workers/pod-workers.ts';

const podResource = { group: '', version: 'v1', resource: 'pods' };
const nodeResource = { group: '', version: 'v1', resource: 'nodes' };

/** What a kubelet is made of; built by `runKubelet` or by who simulates. */
export interface KubeletParts {
  client: KubeClient;
  /** Informers of this node alone; the kubelet starts and stops them. */
  informers: InformerFactory;
  recorder: EventRecorder;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  /** What is known of the node; the parts below share it. */
  state: NodeState;
  runtime: PodRuntime;
  /** Settings of the kernel that pods may have. */
  sysctls: SysctlRules;
  probes(wake: (podUid: string) => void, events: PodEvents): ProbeManager;
  hooks?: LifecycleHooks;
  /** The paths of a pod's volumes, by volume name; absent where the runtime mounts no volumes. */
  volumePaths?(uid: string): ReadonlyMap<string, MountedVolume>;
  /** The cgroups of the pods; absent where pods have no cgroups of their own. */
  cgroups?: Pick<CgroupManager, 'parentOf' | 'version'>;
  podNetwork?: PodNetwork | undefined;
  machine(): Promise<Machine>;
  credentials?(pod: Pod, image: string): Promise<RegistryAuth[]>;
}

export class Kubelet {
  readonly options: KubeletOptions;
  readonly parts: KubeletParts;
  readonly workers: PodWorkers;
  readonly nodes: NodeManager;
  readonly statuses: StatusManager;
  readonly probes: ProbeManager;
  readonly images: ImageManager;
  readonly events: PodEvents;
  #health: RuntimeHealth = { runtimeError: 'container runtime status check may not have completed yet' };
  #imageList: readonly ImageInfo[] = [];
  #runtimeVersion = '';
  #relist: Timer | undefined;
  #hasEvents = false;
  #synced = false;
  #closed = false;

  constructor(options: KubeletOptions, parts: KubeletParts) {
    this.options = options;
    this.parts = parts;
    const { client, clock, logger, runtime, recorder, state } = parts;
    this.events = podEvents(recorder);
    this.probes = parts.probes((uid) => this.workers.wake(uid), this.events);
    this.images = new ImageManager({
      images: runtime.images,
      clock,
      events: this.events,
      credentials: parts.credentials ?? (async () => []),
      parallelPulls: options.serializeImagePulls ? 1 : 16,
    });
    this.statuses = new StatusManager({
      client,
      clock,
      logger,
      state,
      apiPod: (uid) => this.#apiPod(uid),
      couldBeRunning: (uid) => this.workers.get(uid)?.couldBeRunning ?? false,
    });
    this.workers = this.#makeWorkers();
    this.nodes = this.#makeNodeManager();
    const nodeInformer = parts.informers.informer<Node>(nodeResource, { fieldSelector: `metadata.name=${options.nodeName}` });
    const onNode = (node: Node): void => this.#onNode(node);
    nodeInformer.addHandler({ onAdd: onNode, onUpdate: onNode });
  }
  #makeWorkers(): PodWorkers {
    const { hooks = noHooks, ...parts } = this.parts;
    const { statuses, probes, events, images } = this;
    return new PodWorkers({
      ...parts,
      executor: new PodExecutor({
        ...parts,
        images,
        hooks,
        events,
        // Simulated containers run in the same instant: one report says it all.
        ...(!parts.runtime.simulated && { onSandboxReady: (pod: Pod) => statuses.sandboxReady(pod) }),
      }),
      statuses,
      probes,
      events,
      onGone: (uid) => images.forget(uid),
    });
  }
  #makeNodeManager(): NodeManager {
    const { options, parts } = this;
    const marks = parts.runtime.simulated ? simulatedMark : {};
    return new NodeManager({
      ...parts,
      name: options.nodeName,
      registration: {
        labels: { ...options.nodeLabels, ...marks },
        annotations: { ...options.nodeAnnotations, ...marks },
        taints: options.registerWithTaints,
        providerID: options.providerID,
        routesFromCloud: options.routesFromCloud,
      },
      registerNode: options.registerNode,
      facts: () => this.#facts(),
      statusUpdateMs: options.nodeStatusUpdateMs,
      statusReportMs: options.nodeStatusReportMs,
      leaseSeconds: options.leaseSeconds,
    });
  }

  /** Registers the node and takes up its pods. Resolves when the node is registered and its pods are known. */
  async start(): Promise<void> {
    const { runtime, informers } = this.parts;
    this.nodes.recordEvent('Normal', 'Starting', 'Starting kubelet.');
    const subscribed = runtime.subscribe(
      bound((uid: string | undefined) => this.workers.wake(uid)),
      (uid) => this.workers.get(uid)?.pod,
    );
    void subscribed.then((hasEvents) => {
      this.#hasEvents = hasEvents;
    });
    await this.#checkRuntime();
    await this.nodes.start();
    if (this.#closed) return;
    const pods = informers.informer<Pod>(podResource, { fieldSelector: `spec.nodeName=${this.options.nodeName}` });
    const starting: Pod[] = [];
    const update = (pod: Pod): void => void (this.#synced ? this.workers.update(pod) : starting.push(pod));
    pods.addHandler({ onAdd: update, onUpdate: update, onDelete: (pod) => this.workers.remove(pod) });
    informers.start();
    await informers.waitForSync();
    this.#synced = true;
    starting.sort((a, b) => (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? ''));
    for (const pod of starting) this.workers.update(pod);
    await this.workers.endOrphans(runtime);
    this.#scheduleRelist();
  }

  /** `keepRuntime`: what runs on the node runs on, for another kubelet to take up. */
  close({ keepRuntime = false }: { keepRuntime?: boolean } = {}): void {
    this.#closed = true;
    this.#relist?.cancel();
    this.parts.informers.stop();
    this.nodes.close();
    this.workers.close();
    this.statuses.close();
    this.probes.close();
    if (!keepRuntime) this.parts.runtime.close();
  }

  #scheduleRelist(): void {
    if (this.#closed || this.parts.runtime.simulated) return;
    const { runtimeError, networkError } = this.#health;
    const well = runtimeError === undefined && networkError === undefined;
    const periodMs = well ? (this.#hasEvents ? relistMs : relistWithoutEventsMs) : unhealthyRelistMs;
    this.#relist = this.parts.clock.setTimer(periodMs, () => {
      void this.#look().finally(() => this.#scheduleRelist());
    });
  }
  /** The net under the runtime's events: look at everything. */
  async #look(): Promise<void> {
    try {
      await this.#checkRuntime();
      if (this.#health.runtimeError !== undefined || this.#health.networkError !== undefined) return;
      this.workers.wake(undefined);
      await this.workers.endOrphans(this.parts.runtime);
    } catch (error) {
      this.parts.logger.warn('relist failed', { error: String(error) });
    }
  }

  async #checkRuntime(): Promise<void> {
    const { runtime } = this.parts;
    const before = JSON.stringify(this.#health);
    try {
      this.#health = await runtime.health();
      this.#runtimeVersion ||= await runtime.version();
      this.#imageList = await runtime.images.list();
    } catch (error) {
      this.#health = { runtimeError: `container runtime is down: ${(error as Error).message}` };
    }
    this.parts.state.networkError = this.#health.networkError;
    if (!this.#synced || before === JSON.stringify(this.#health)) return;
    void this.parts.state.report();
    this.workers.wake(undefined);
  }

  async #facts(): Promise<NodeFacts> {
    const { options, parts } = this;
    if (parts.runtime.simulated) await this.#checkRuntime();
    const { runtimeError, networkError } = this.#health;
    return {
      name: options.nodeName,
      hostname: options.hostname,
      machine: await parts.machine(),
      nodeIPs: options.nodeIPs,
      ownIPs: options.ownIPs,
      cloudProvider: options.cloudProvider,
      podsMax: options.podsMax,
      kubeletPort: options.port,
      kubeletVersion: gitVersion,
      runtimeVersion: `${parts.runtime.name}://${this.#runtimeVersion || 'Unknown'}`,
      images: this.#imageList,
      reserved: options.reserved,
      errors: [
        ...(runtimeError ? [runtimeError] : []),
        ...(networkError ? [`container runtime network not ready: ${networkError}`] : []),
      ],
      pressure: parts.state.pressure,
      volumesInUse: [...parts.state.volumesInUse],
    };
  }
  #onNode(node: Node): void {
    this.parts.state.learnNode(node);
    const cidrs = node.spec?.podCIDRs ?? (node.spec?.podCIDR ? [node.spec.podCIDR] : []);
    void this.parts.runtime.updatePodCIDRs(cidrs).catch((error: unknown) => {
      this.parts.logger.warn('Failed to update pod CIDR', { error: String(error) });
    });
  }
  #apiPod(uid: string): Pod | undefined {
    const pod = this.workers.get(uid)?.pod;
    return pod && (isStaticPod(pod) ? this.workers.mirrorOf(pod) : pod);
  }
}

/** The label and annotation of nodes on which nothing runs. */
export const simulatedMark = { 'sagong.dev/runtime': 'simulated' };
