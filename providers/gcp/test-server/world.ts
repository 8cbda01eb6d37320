// Providers over the test server.
import type { Clock, CloudProvider, Node, Rng } from 'sagong/cloud-provider';
import {
  type HastyClock,
  hastyClock,
  seededRng,
  silentLogger,
  type TestCluster,
  testCluster,
  testService,
  testServiceUid,
} from 'sagong/cloud-provider/test-server';
import type { FlagValues } from '../src/config/flags.ts';
import type { GceConfig } from '../src/config/schema.ts';
import { createProvider } from '../src/provider.ts';
import { network, project, region, startTestServer, type TestServer, zones } from './index.ts';

export const clusterId = '0123456789abcdef';

export const defaultConfig: GceConfig = {
  'project-id': project,
  'network-name': network,
  'local-zone': zones[0],
  'node-tags': ['nodes'],
  'node-instance-prefix': '',
  regional: true,
  multizone: false,
  'alpha-features': [],
};

/** A cluster whose ID is known. */
const clusterWithId = (): TestCluster =>
  testCluster({ 'configmaps ingress-uid': { metadata: { name: 'ingress-uid' }, data: { uid: clusterId } } });

export interface TestWorld {
  server: TestServer;
  clock: HastyClock;
  cluster: TestCluster;
  /** Another provider over the same project, as a replica of the manager has. */
  open(config?: Partial<GceConfig>, flags?: Partial<FlagValues>): Promise<CloudProvider>;
}

export interface WorldOptions {
  clock?: HastyClock;
  rng?: Rng;
}

export async function openWorld({ clock = hastyClock(), rng = seededRng(1) }: WorldOptions = {}): Promise<TestWorld> {
  const server = await startTestServer({ clock, rng });
  const cluster = clusterWithId();
  return {
    server,
    clock,
    cluster,
    open: async (config = {}, flags = {}) => openProvider(server, clock, cluster, { ...defaultConfig, ...config }, flags, rng),
  };
}

async function openProvider(
  server: TestServer,
  clock: Clock,
  cluster: TestCluster,
  config: GceConfig,
  flags: Partial<FlagValues>,
  rng: Rng,
): Promise<CloudProvider> {
  const context = {
    config: { 'api-endpoint': server.endpoint, ...config },
    configDir: '/',
    clock,
    rng,
    logger: silentLogger,
    flags,
  };
  const tokens = { headers: () => Promise.resolve({ authorization: `Bearer ${server.token}` }), refused() {} };
  const cloud = await createProvider(context, { tokens });
  await cloud.initialize?.({ client: cluster.client, signal: new AbortController().signal });
  return cloud;
}

/** The name of the load balancer of `testService`. */
export const balancerName = `a${testServiceUid.replaceAll('-', '')}`.slice(0, 32);

export const nodeIn = (zone: string, name: string): Node => ({
  metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
  spec: { providerID: `gce://${project}/${zone}/${name}` },
});

/** Buys machines and gives their Nodes, one in each zone and so on. */
export function addNodes({ server }: TestWorld, ...names: string[]): Node[] {
  return names.map((name, index) => {
    const zone = zones[index % zones.length] as string;
    server.projects.addInstance(project, zone, name, { tags: ['nodes'] });
    return nodeIn(zone, name);
  });
}

export { network, project, region, silentLogger as silent, testService as serviceWith, zones };
