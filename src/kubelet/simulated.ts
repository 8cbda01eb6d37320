// A simulated node: a whole kubelet over the simulated runtime. Thousands fit in one process.
import type { Taint } from '#api/core/v1';
import { createEventRecorder, createInformerFactory, type EventRecorder, type KubeClient } from '#client';
import type { Clock, Logger, Rng } from '#utils';
import { Kubelet } from './kubelet.ts';
import { NodeState } from './node/state.ts';
import type { Machine } from './node/status.ts';
import { sysctlRules } from './node/sysctls.ts';
import { defaultOptions, type KubeletOptions } from './options.ts';
import type { SimulationDefaults } from './runtime/simulated/behaviour.ts';
import { SimulatedRuntime } from './runtime/simulated/index.ts';
import { simulatedProbes } from './runtime/simulated/probes.ts';

export interface SimulatedNodeOptions {
  name: string;
  /** Default: an address made from the name. */
  nodeIP?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  taints?: Taint[];
  cpuMillis?: number;
  memoryBytes?: number;
  ephemeralStorageBytes?: number;
  /** Further capacity, e.g. GPUs, in whole units. */
  extendedResources?: Record<string, number>;
  podsMax?: number;
  architecture?: string;
  /** The same as in `KubeletOptions`. */
  cloudProvider?: KubeletOptions['cloudProvider'];
  providerID?: string;
  routesFromCloud?: boolean;
  kubeletPort?: number;
  /** Used while the node has no pod CIDR of its own. Default: one made from the name; null: pods wait for the node's. */
  podCIDR?: string | null;
  defaults?: Partial<SimulationDefaults>;
  nodeStatusReportMs?: number;
  leaseSeconds?: number;
}

export interface SimulatedNodeDeps {
  client: KubeClient;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  /** Shared by many nodes to save memory; default: one of its own. */
  recorder?: EventRecorder;
  /** What runs on the machine already, from `createSimulatedRuntime`; default: nothing. */
  runtime?: SimulatedRuntime;
}

const gibibyte = 2 ** 30;

/** A number that follows from the name (FNV-1a). */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return value;
}

function simulatedMachine(options: SimulatedNodeOptions, id: number): Machine {
  const hex = id.toString(16).padStart(8, '0');
  const uuid = `${hex}-0000-4000-8000-${hex.padStart(12, '0')}`;
  return {
    machineId: uuid.replaceAll('-', ''),
    systemUuid: uuid,
    bootId: uuid,
    kernelVersion: 'simulated',
    osImage: 'Simulated (no processes run here)',
    operatingSystem: 'linux',
    architecture: options.architecture ?? 'amd64',
    cpuMillis: options.cpuMillis ?? 8000,
    memoryBytes: options.memoryBytes ?? 32 * gibibyte,
    ephemeralStorageBytes: options.ephemeralStorageBytes ?? 100 * gibibyte,
    hugepages: { 'hugepages-1Gi': 0, 'hugepages-2Mi': 0, ...options.extendedResources },
  };
}

/** What runs on the machine of a simulated node; it may outlive a kubelet. */
export function createSimulatedRuntime(node: SimulatedNodeOptions, { clock, rng }: { clock: Clock; rng: Rng }): SimulatedRuntime {
  const id = hash(node.name);
  const podCIDR = node.podCIDR === null ? undefined : (node.podCIDR ?? `10.${128 + (id & 63)}.${(id >>> 8) & 255}.0/24`);
  return new SimulatedRuntime({ clock, rng, defaults: node.defaults, podCIDR });
}

/** Builds the kubelet of a simulated node; `start()` registers it. */
export function createSimulatedNode(node: SimulatedNodeOptions, deps: SimulatedNodeDeps): Kubelet {
  const { client, clock, rng, logger, runtime = createSimulatedRuntime(node, deps) } = deps;
  const id = hash(node.name);
  const machine = simulatedMachine(node, id);
  const base = defaultOptions(node.name);
  const options: KubeletOptions = {
    ...base,
    nodeIPs: node.nodeIP === undefined ? [] : [node.nodeIP],
    ownIPs: [`10.${64 + (id & 63)}.${(id >>> 8) & 255}.${1 + ((id >>> 16) % 254)}`],
    nodeLabels: node.labels ?? {},
    nodeAnnotations: node.annotations ?? {},
    registerWithTaints: node.taints ?? [],
    cloudProvider: node.cloudProvider ?? base.cloudProvider,
    providerID: node.providerID ?? '',
    routesFromCloud: node.routesFromCloud ?? false,
    podsMax: node.podsMax ?? base.podsMax,
    port: node.kubeletPort ?? base.port,
    nodeStatusReportMs: node.nodeStatusReportMs ?? base.nodeStatusReportMs,
    leaseSeconds: node.leaseSeconds ?? base.leaseSeconds,
  };
  return new Kubelet(options, {
    client,
    informers: createInformerFactory({ client, clock, rng, logger }),
    recorder: deps.recorder ?? createEventRecorder({ client, clock, logger, component: 'kubelet', host: node.name }),
    clock,
    rng,
    logger,
    state: new NodeState(options),
    runtime,
    sysctls: sysctlRules(options.allowedUnsafeSysctls, machine.kernelVersion),
    probes: () => simulatedProbes(runtime),
    machine: async () => machine,
  });
}
