// Builds the kubelet of a real node: pods through a CRI runtime, volumes, cgroups, probes, server (upstream cmd/kubelet/app/server.go).
import { readFile, statfs } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { ConfigMap, Container, Pod, Secret, Service } from '#api/core/v1';
import type { RuntimeClass } from '#api/node/v1';
import { isNotFound, notFound } from '#apimachinery/errors';
import { parseQuantity } from '#apimachinery/quantity';
import { createEventRecorder, createInformerFactory, type KubeClient } from '#client';
import { connectCri } from '#cri';
import { ensureDir, execCommand, osInfo } from '#host';
import type { Clock, Exec, Logger, Rng } from '#utils';
import type { WireServer } from '#wire';
import { CgroupManager } from './cgroups/manager.ts';
import { StaticPods } from './config/static-pods.ts';
import type { DownwardContext } from './env/downward.ts';
import { containerEnvironment, type ObjectSource } from './env/environment.ts';
import { serviceEnvironment } from './env/service-links.ts';
import { createHooks } from './hooks/real.ts';
import { Housekeeping } from './housekeeping/housekeeping.ts';
import { credentialsFor } from './images/credentials.ts';
import { Kubelet } from './kubelet.ts';
import { type DnsConfig, parseResolvConf, podDns } from './network/dns.ts';
import type { Machine } from './node/status.ts';
import type { KubeletOptions } from './options.ts';
import { RealProbeManager } from './probes/manager.ts';
import { createProber } from './probes/prober.ts';
import { ContainerdRuntime } from './runtime/containerd/index.ts';
import { type KubeletServerOptions, startKubeletServer } from './server/server.ts';
import { VolumeManager } from './volumes/manager.ts';
import { TokenManager } from './volumes/tokens.ts';

export interface KubeletDeps {
  client: KubeClient;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  /** Default: programs of this machine. */
  exec?: Exec;
  /** Absent: no server. Without `listen` it listens at `options.address` and `options.port`. */
  serving?: Omit<KubeletServerOptions, 'listen'> & Partial<Pick<KubeletServerOptions, 'listen'>>;
}

/** A running kubelet. */
export interface KubeletHandle {
  readonly kubelet: Kubelet;
  readonly server: WireServer | undefined;
  /** Stops; pods go on running. */
  close(): Promise<void>;
}

const runtimeClasses = { group: 'node.k8s.io', version: 'v1', resource: 'runtimeclasses' };
const core = (resource: string) => ({ group: '', version: 'v1', resource });

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

/** Facts of this machine, disk size included. */
export async function thisMachine(rootDir: string): Promise<Machine> {
  const info = osInfo();
  const disk = await statfs(rootDir).catch(() => undefined);
  return {
    machineId: info.machineId,
    systemUuid: info.systemUuid,
    bootId: info.bootId,
    kernelVersion: info.kernelVersion,
    osImage: info.osImage,
    operatingSystem: info.operatingSystem,
    architecture: info.architecture,
    cpuMillis: info.cpus * 1000,
    memoryBytes: info.memoryBytes,
    ...(disk && { ephemeralStorageBytes: disk.blocks * disk.bsize }),
  };
}

/** The machine's first address that others can reach: IPv4 where there is one, unless `--node-ip` is `::`. */
function ownAddress([wanted]: readonly string[]): string[] {
  const preferred = wanted === '::' ? 'IPv6' : 'IPv4';
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const usable = all.filter(({ internal, scopeid = 0 }) => !internal && scopeid === 0);
  const found = [...usable, ...all].find(({ family }) => family === preferred) ?? usable[0];
  return found ? [found.address] : [];
}

/** What eviction keeps for the system is not for pods (upstream node allocatable). */
function withReserved(options: KubeletOptions, machine: Machine): KubeletOptions {
  const { hard } = options.eviction;
  const amount = (signal: string, capacity: number | undefined): string | undefined => {
    const text = hard[signal];
    if (text === undefined || capacity === undefined) return undefined;
    return text.endsWith('%') ? String(Math.floor((capacity * Number.parseFloat(text)) / 100)) : text;
  };
  const memory = amount('memory.available', machine.memoryBytes);
  const storage = amount('nodefs.available', machine.ephemeralStorageBytes);
  return {
    ...options,
    reserved: { ...(memory && { memory }), ...(storage && { 'ephemeral-storage': storage }), ...options.reserved },
    ownIPs: options.ownIPs.length > 0 ? options.ownIPs : ownAddress(options.nodeIPs),
  };
}

/** Starts a node over the runtime at `options.containerRuntimeEndpoint`. Resolves when the node is registered. */
export async function runKubelet(given: KubeletOptions, deps: KubeletDeps): Promise<KubeletHandle> {
  const { client, clock, rng, logger, exec = execCommand } = deps;
  await ensureDir(join(given.rootDir, 'pods'), 0o750);
  const machine = await thisMachine(given.rootDir);
  const options = withReserved(given, machine);
  const informers = createInformerFactory({ client, clock, rng, logger });
  const services = informers.informer<Service>(core('services'));
  const objects = objectsOf(client);
  const cgroups = new CgroupManager({ root: options.cgroupRoot, logger });
  if (options.cgroupsPerQOS) await cgroups.start();
  const kubelets: Kubelet[] = [];
  const hostIPs = (): readonly string[] => kubelets[0]?.hostIPs() ?? [];
  const downward = (podIPs: readonly string[]): DownwardContext => ({
    podIPs,
    hostIPs: hostIPs(),
    allocatable: kubelets[0]?.nodes.node?.status?.allocatable ?? {},
  });
  const lastIPs = (pod: Pod): string[] => (kubelets[0]?.statuses.get(pod.metadata.uid ?? '')?.podIPs ?? []).map(({ ip }) => ip);
  const volumes = new VolumeManager({
    client,
    clock,
    rng,
    exec,
    logger,
    rootDir: options.rootDir,
    direct: objects,
    tokens: new TokenManager(client, clock),
    downward: (pod) => downward(lastIPs(pod)),
  });
  const dns = async (pod: Pod): Promise<DnsConfig> => {
    const host = parseResolvConf(await readFile(options.resolvConf, 'utf8').catch(() => ''));
    const { config, missing } = podDns(pod, { clusterDNS: options.clusterDNS, clusterDomain: options.clusterDomain, host });
    if (missing) kubelets[0]?.events.pod(pod, 'Warning', 'MissingClusterDNS', missingDnsMessage(pod));
    return config;
  };
  const environment = (pod: Pod, container: Container, podIPs: readonly string[]): Promise<Map<string, string>> => {
    const links = serviceEnvironment(
      services.lister.list(),
      pod.metadata.namespace ?? '',
      pod.spec?.enableServiceLinks !== false,
    );
    return containerEnvironment({ pod, container, services: links, objects, downward: downward(podIPs) });
  };
  const runtime = new ContainerdRuntime({
    cri: await connectCri({ endpoint: options.containerRuntimeEndpoint, clock, logger }),
    clock,
    rng,
    cgroups,
    volumes,
    environment,
    dns,
    runtimeHandler: async (name) => (await client.resource<RuntimeClass>(runtimeClasses).get(name)).handler,
    podLogsDir: options.podLogsDir,
    clusterDomain: options.clusterDomain,
    seccompDir: join(options.rootDir, 'seccomp'),
    seccompDefault: options.seccompDefault,
    memoryCapacityBytes: machine.memoryBytes,
  });
  const hostIP = (): string => hostIPs()[0] ?? '127.0.0.1';
  const keeping: Housekeeping[] = [];
  const kubelet = new Kubelet(options, {
    client,
    informers,
    recorder: createEventRecorder({ client, clock, logger, component: 'kubelet', host: options.nodeName }),
    clock,
    rng,
    logger,
    runtime,
    probes: (wake, events) => new RealProbeManager({ prober: createProber(runtime), clock, events, hostIP, onChange: wake }),
    hooks: createHooks({ runtime, clock, hostIP }),
    machine: () => thisMachine(options.rootDir),
    credentials: async (pod, image) => credentialsFor(image, await pullSecrets(pod, objects)),
    pressure: () => keeping[0]?.pressure() ?? { memory: false, disk: false, pid: false },
  });
  kubelets.push(kubelet);
  const housekeeping = new Housekeeping({ kubelet, runtime, volumes, clock, logger });
  keeping.push(housekeeping);
  const { serving } = deps;
  const listen = serving?.listen ?? { host: options.address, port: options.port };
  const server = serving && (await startKubeletServer(kubelet, { ...serving, listen }, { client, clock, logger }));
  const { podManifestPath: directory } = options;
  const staticPods = directory === '' ? undefined : new StaticPods({ kubelet, directory, clock, logger });
  await staticPods?.start();
  const started = kubelet.start();
  await tellCgroups(kubelet, cgroups, given.reserved, machine);
  await started;
  housekeeping.start();
  return {
    kubelet,
    server,
    async close() {
      staticPods?.close();
      housekeeping.close();
      volumes.close();
      await server?.close({ graceMs: 0 });
      kubelet.close();
      await cgroups.close();
    },
  };
}

/** Bounds the pods together by what is not reserved for the machine's own programs, and says so. */
async function tellCgroups(
  { nodes }: Kubelet,
  cgroups: CgroupManager,
  reserved: KubeletOptions['reserved'],
  { cpuMillis, memoryBytes }: Machine,
): Promise<void> {
  if (cgroups.version === undefined) return;
  if (cgroups.version === 1) nodes.recordEvent('Warning', 'CgroupV1', cgroupV1Warning);
  const kept = (name: string) => parseQuantity(reserved[name] ?? '0');
  try {
    await cgroups.limitPods({
      cpuMillis: Math.max(0, cpuMillis - kept('cpu').milliValue()),
      memoryBytes: Math.max(0, memoryBytes - kept('memory').value()),
    });
    nodes.recordEvent('Normal', 'NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods');
  } catch (error) {
    const message = `Failed to update Node Allocatable Limits ["kubepods"]: ${(error as Error).message}`;
    nodes.recordEvent('Warning', 'FailedNodeAllocatableEnforcement', message);
  }
}

const cgroupV1Warning =
  'cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1';

const missingDnsMessage = (pod: Pod): string =>
  `pod: "${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})". kubelet does not have ClusterDNS IP configured and cannot create Pod using "${pod.spec?.dnsPolicy ?? 'ClusterFirst'}" policy. Falling back to "Default" policy.`;

/** Secrets that cannot be read are as good as absent. */
async function pullSecrets(pod: Pod, objects: ObjectSource): Promise<Secret[]> {
  const names = (pod.spec?.imagePullSecrets ?? []).map(({ name = '' }) => name);
  const found = await Promise.all(names.map((name) => objects.secret(pod.metadata.namespace ?? '', name).catch(() => undefined)));
  return found.filter((secret) => secret !== undefined);
}
