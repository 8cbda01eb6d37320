// Builds the kubelet of a real node: pods through a CRI runtime, volumes, cgroups, probes, server (upstream cmd/kubelet/app/server.go). What each part
// needs is made before it: the state of the node first, then volumes and runtime, then the kubelet over them, then what looks after it.
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ConfigMap, Container, Pod, Secret, Service } from '#api/core/v1';
import type { RuntimeClass } from '#api/node/v1';
import { isNotFound, notFound } from '#apimachinery/errors';
import { createEventRecorder, createInformerFactory, type EventRecorder, type InformerFactory, type KubeClient } from '#client';
import { connectCri, type CriClient } from '#cri';
import { ensureDir, execCommand } from '#host';
import type { Clock, Exec, Logger, Rng } from '#utils';
import type { WireServer } from '#wire';
import { CgroupManager } from './cgroups/manager.ts';
import { enforceNodeAllocatable } from './cgroups/node-allocatable.ts';
import { StaticPods } from './config/static-pods.ts';
import { CsiDrivers } from './csi/index.ts';
import type { DownwardContext } from './env/downward.ts';
import { containerEnvironment, type ObjectSource } from './env/environment.ts';
import { serviceEnvironment } from './env/service-links.ts';
import { type PodEvents, podEvents } from './events.ts';
import { createHooks } from './hooks/real.ts';
import { startHousekeeping } from './housekeeping/start.ts';
import { credentialsFor } from './images/credentials.ts';
import { nodeCredentials } from './images/node-credentials.ts';
import { Kubelet } from './kubelet.ts';
import { type DnsConfig, parseResolvConf, podDns } from './network/dns.ts';
import { checkKernelSettings } from './node/kernel-settings.ts';
import { optionsOn, thisMachine } from './node/machine.ts';
import { NodeState } from './node/state.ts';
import type { Machine } from './node/status.ts';
import { sysctlRules } from './node/sysctls.ts';
import type { KubeletOptions } from './options.ts';
import { RealProbeManager } from './probes/manager.ts';
import { createProber } from './probes/prober.ts';
import { ContainerdRuntime } from './runtime/containerd/index.ts';
import { type KubeletServerOptions, startKubeletServer } from './server/server.ts';
import { VolumeManager } from './volumes/manager.ts';
import { CsiVolumes } from './volumes/plugins/csi/volumes.ts';
import { TokenManager } from './volumes/tokens.ts';
import type { PodNetwork } from './workers/executor.ts';

export interface KubeletDeps {
  client: KubeClient;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  /** Default: programs of this machine. */
  exec?: Exec;
  /** Absent: no server. Without `listen` it listens at `options.address` and `options.port`. */
  serving?: Omit<KubeletServerOptions, 'listen'> & Partial<Pick<KubeletServerOptions, 'listen'>>;
  /**
   * Waited for before the containers of a pod start: it resolves when the program that enforces network policies knows the pod's addresses. By
   * default nothing is waited for.
   */
  podNetwork?: PodNetwork;
}

/** A running kubelet, to who has started it. */
export interface KubeletHandle {
  readonly kubelet: Kubelet;
  readonly server: WireServer | undefined;
  /** Stops; pods go on running. */
  close(): Promise<void>;
}

const runtimeClasses = { group: 'node.k8s.io', version: 'v1', resource: 'runtimeclasses' };
const core = (resource: string) => ({ group: '', version: 'v1', resource });

/** What the parts of one kubelet share. */
interface Base extends Required<Omit<KubeletDeps, 'serving' | 'podNetwork'>> {
  options: KubeletOptions;
  machine: Machine;
  state: NodeState;
  informers: InformerFactory;
  objects: ObjectSource;
  events: PodEvents;
  recorder: EventRecorder;
  cgroups: CgroupManager;
  cri: CriClient;
}

/** Missing objects are named in the singular, as upstream's managers of them do. */
async function named<T>(read: Promise<T>, kind: string, name: string): Promise<T> {
  try {
    return await read;
  } catch (error) {
    throw isNotFound(error) ? notFound({ group: '', resource: kind }, name) : error;
  }
}

const objectsOf = (client: KubeClient): ObjectSource => ({
  configMap: (namespace, name) => named(client.resource<ConfigMap>(core('configmaps'), namespace).get(name), 'configmap', name),
  secret: (namespace, name) => named(client.resource<Secret>(core('secrets'), namespace).get(name), 'secret', name),
});

const downwardOf = (state: NodeState, podIPs: readonly string[]): DownwardContext => ({
  podIPs,
  hostIPs: state.hostIPs(),
  allocatable: state.allocatable,
});

function volumesOf(base: Base, drivers: CsiDrivers): { volumes: VolumeManager; csi: CsiVolumes } {
  const { rootDir, nodeName } = base.options;
  const shared = { ...base, rootDir, direct: base.objects, tokens: new TokenManager(base.client, base.clock) };
  const csi = new CsiVolumes({ ...shared, nodeName, drivers });
  const volumes = new VolumeManager({
    ...shared,
    csi,
    snapshots: base.cri.snapshots,
    downward: ({ metadata: { uid = '' } }) => downwardOf(base.state, base.state.podIPs(uid)),
  });
  return { volumes, csi };
}

/** The name servers of a pod, as the options and the machine say. */
async function dnsOf({ options, events }: Base, pod: Pod): Promise<DnsConfig> {
  const host = parseResolvConf(await readFile(options.resolvConf, 'utf8').catch(() => ''));
  const { config, missing } = podDns(pod, { clusterDNS: options.clusterDNS, clusterDomain: options.clusterDomain, host });
  if (missing) events.pod(pod, 'Warning', 'MissingClusterDNS', missingDnsMessage(pod));
  return config;
}

function runtimeOf(base: Base, volumes: VolumeManager): ContainerdRuntime {
  const { options, client, state, objects, informers, machine } = base;
  const services = informers.informer<Service>(core('services'));
  return new ContainerdRuntime({
    ...base,
    volumes,
    environment(pod: Pod, container: Container, podIPs: readonly string[]) {
      const enabled = pod.spec?.enableServiceLinks !== false;
      const links = serviceEnvironment(services.lister.list(), pod.metadata.namespace ?? '', enabled);
      return containerEnvironment({ pod, container, services: links, objects, downward: downwardOf(state, podIPs) });
    },
    dns: (pod) => dnsOf(base, pod),
    runtimeHandler: async (name) => (await client.resource<RuntimeClass>(runtimeClasses).get(name)).handler,
    podLogsDir: options.podLogsDir,
    clusterDomain: options.clusterDomain,
    seccompDir: join(options.rootDir, 'seccomp'),
    seccompDefault: options.seccompDefault,
    memoryCapacityBytes: machine.memoryBytes,
  });
}

/** Makes all that the parts are made of. Rejects when this machine is not as the options require. */
async function baseOf(given: KubeletOptions, { client, clock, rng, logger, exec = execCommand }: KubeletDeps) {
  if (given.protectKernelDefaults) await checkKernelSettings();
  await ensureDir(join(given.rootDir, 'pods'), 0o750);
  const machine = await thisMachine(given.rootDir);
  const options = optionsOn(machine, given);
  const recorder = createEventRecorder({ client, clock, logger, component: 'kubelet', host: options.nodeName });
  const podPidsMax = options.podPidsMax > 0 ? options.podPidsMax : undefined;
  const cgroups = new CgroupManager({ root: options.cgroupRoot, podPidsMax, logger });
  if (options.cgroupsPerQOS) await cgroups.start();
  return {
    client,
    clock,
    rng,
    logger,
    exec,
    options,
    machine,
    recorder,
    cgroups,
    cri: await connectCri({ endpoint: options.containerRuntimeEndpoint, clock, logger }),
    state: new NodeState(options),
    informers: createInformerFactory({ client, clock, rng, logger }),
    objects: objectsOf(client),
    events: podEvents(recorder),
  };
}

/** Starts a node over the runtime at `options.containerRuntimeEndpoint`. Resolves when the node is registered. */
export async function runKubelet(given: KubeletOptions, deps: KubeletDeps): Promise<KubeletHandle> {
  const base = await baseOf(given, deps);
  const { client, clock, logger, options, machine, state, objects, cgroups } = base;
  const sysctls = sysctlRules(options.allowedUnsafeSysctls, machine.kernelVersion);
  const drivers = new CsiDrivers({ ...base, nodeName: options.nodeName, rootDir: options.rootDir });
  const { volumes, csi } = volumesOf(base, drivers);
  await csi.start();
  const runtime = runtimeOf(base, volumes);
  const hostIP = (): string => state.hostIPs()[0] ?? '127.0.0.1';
  const kubelet = new Kubelet(options, {
    ...base,
    runtime,
    podNetwork: deps.podNetwork,
    sysctls,
    probes: (wake, events) =>
      new RealProbeManager({ prober: createProber(runtime, clock), clock, events, hostIP, onChange: wake }),
    hooks: createHooks({ runtime, clock, hostIP }),
    volumePaths: (uid) => volumes.mounted(uid),
    machine: () => thisMachine(options.rootDir),
    credentials: async (pod, image) => {
      const [secrets, node] = await Promise.all([pullSecrets(pod, objects), nodeCredentials(options.rootDir, homedir())]);
      return credentialsFor(image, secrets, node);
    },
  });
  const { serving } = deps;
  const listen = serving?.listen ?? { host: options.address, port: options.port };
  const server = serving && (await startKubeletServer(kubelet, { ...serving, listen }, { client, clock, logger }));
  const { podManifestPath: directory } = options;
  const staticPods =
    directory === '' ? undefined : new StaticPods({ ...base, nodeName: options.nodeName, workers: kubelet.workers, directory });
  await staticPods?.start();
  const started = kubelet.start();
  await enforceNodeAllocatable(cgroups, given.reserved, machine, (...event) => kubelet.nodes.recordEvent(...event));
  await started;
  await drivers.start();
  const housekeeping = startHousekeeping({ ...base, runtime, volumes, workers: kubelet.workers, nodes: kubelet.nodes });
  return {
    kubelet,
    server,
    async close() {
      staticPods?.close();
      housekeeping.close();
      drivers.close();
      volumes.close();
      await server?.close({ graceMs: 0 });
      kubelet.close();
      await cgroups.close();
    },
  };
}

const missingDnsMessage = (pod: Pod): string =>
  `pod: "${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})". kubelet does not have ClusterDNS IP configured and cannot create Pod using "${pod.spec?.dnsPolicy ?? 'ClusterFirst'}" policy. Falling back to "Default" policy.`;

/** The pull secrets of a pod. Those that cannot be read are left out. */
async function pullSecrets(pod: Pod, objects: ObjectSource): Promise<Secret[]> {
  const names = (pod.spec?.imagePullSecrets ?? []).map(({ name = '' }) => name);
  const found = await Promise.all(names.map((name) => objects.secret(pod.metadata.namespace ?? '', name).catch(() => undefined)));
  return found.filter((secret) => secret !== undefined);
}
