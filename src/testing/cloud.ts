// The cloud under a test cluster: the local cloud in memory, whose instances are the nodes, or a provider that somebody writes and wants to try.
import type { Faults, LoadBalancer, World } from '#cloud';
import type { CloudClient } from '#cloud/client';
import { type AuditEvent, memoryLoadBalancers, startMemoryCloud } from '#cloud/memory';
import { localCloud, localCloudProvider } from '#cloud/provider';
import { type CloudProvider, type CloudProviderDefinition, validateConfig } from '#cloud-provider';
import {
  type ClusterNetwork,
  type ControlPlane,
  createSimulatedInstances,
  ensureNetwork,
  type SimulatedNodes,
  startCloudControllerManager,
} from '#cluster';
import type { Clock, Logger, Rng } from '#utils';
import type { Dial } from '#wire';

export interface TestCloudOptions {
  /** Default `local-1`. */
  region?: string;
  /** Nodes take them in turn. Default: three. */
  zones?: readonly string[];
}

/** A provider that is made already, or its definition, which gets `cloudConfig` checked against its schema. */
export type GivenCloudProvider = { name: string; cloud: CloudProvider } | CloudProviderDefinition;

/** The cloud of a test cluster. */
export interface TestCloud {
  /** Its API, as its owner uses it; what goes wrong for the cluster goes wrong here, too. */
  readonly api: CloudClient;
  /** Everything in it, now. Frozen. */
  readonly world: World;
  /** Its load balancers, now; targets are healthy while their instances run. */
  loadBalancers(): LoadBalancer[];
  /** What is going wrong. */
  readonly faults: Faults;
  /**
   * Makes its API fail from now on: errors, throttling, latency, partial failures, late reads, an outage; by `seed` the same calls each time. What
   * is not given does not fail; `{}` ends it all. Throws for values that make no sense.
   */
  setFaults(faults: Partial<Faults>): void;
  /** The last calls of its API, the newest first. */
  calls(): readonly AuditEvent[];
}

export interface CloudDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
}

/** The cloud while it is part of a cluster. */
export interface ClusterCloud extends TestCloud {
  readonly network: ClusterNetwork;
  readonly dial: Dial;
  /** Gives its instances their kubelets, and starts the cloud-controller-manager. */
  connect(plane: ControlPlane, kubelets: SimulatedNodes): Promise<void>;
  stop(): Promise<void>;
}

export const clusterName = 'sagong';
const defaults = { region: 'local-1', zones: ['local-1a', 'local-1b', 'local-1c'] };
/** A range for network tests (RFC 2544). */
const publicCidr = '198.18.0.0/16';
/** Nothing is scheduled to a node before its route. */
const routeReconciliationPeriodMs = 20;

export async function startClusterCloud(options: TestCloudOptions, deps: CloudDeps, world?: World): Promise<ClusterCloud> {
  const instances = createSimulatedInstances();
  const runs = (id: string): boolean => cloud.world.instances.get(id)?.state === 'running';
  const cloud = await startMemoryCloud(
    {
      ...defaults,
      ...options,
      publicCidr,
      drivers: [instances.driver, memoryLoadBalancers({ health: (id) => (runs(id) ? 'healthy' : 'unused') })],
      ...(world && { world }),
    },
    { ...deps, logger: deps.logger.with({ component: 'cloud' }) },
  );
  const api = cloud.client();
  const network = await ensureNetwork(api, { cluster: clusterName, internet: true });
  let manager: { stop(): Promise<void> } | undefined;
  return {
    api,
    network,
    dial: instances.dial,
    get world() {
      return cloud.world;
    },
    get faults() {
      return cloud.faults;
    },
    loadBalancers: () => [...cloud.world.loadBalancers.values()],
    setFaults: (faults) => cloud.setFaults(faults),
    calls: () => cloud.calls(),
    async connect(plane, kubelets) {
      instances.connect(kubelets);
      const { vpc, routeTable, subnets } = network;
      const config = {
        url: 'http://cloud.invalid',
        clusterId: clusterName,
        vpcId: vpc.id,
        routeTableId: routeTable.id,
        subnetIds: subnets.map(({ id }) => id),
        defaultLoadBalancerKind: 'proxy' as const,
      };
      const provider = localCloud({ api: cloud.client(), config, clock: deps.clock, logger: deps.logger });
      manager = await startManager(plane, { name: localCloudProvider.name, cloud: provider }, deps);
    },
    async stop() {
      await manager?.stop();
      await cloud.close();
    },
  };
}

/** Starts a cloud-controller-manager over any provider. */
export const startManager = (
  plane: ControlPlane,
  { name, cloud }: { name: string; cloud: CloudProvider },
  deps: CloudDeps,
): Promise<{ stop(): Promise<void> }> =>
  startCloudControllerManager({ plane, cluster: clusterName, providerName: name, cloud, routeReconciliationPeriodMs }, deps);

/** Makes a provider of its definition. Rejects with ConfigError for a configuration that it does not take. */
export async function providerOf(
  given: GivenCloudProvider,
  config: unknown,
  { clock, logger }: CloudDeps,
): Promise<{ name: string; cloud: CloudProvider }> {
  if ('cloud' in given) return given;
  const { name, configSchema, create } = given;
  const checked = validateConfig(name, configSchema, config ?? {});
  return { name, cloud: await create({ config: checked, configDir: process.cwd(), clock, logger }) };
}
