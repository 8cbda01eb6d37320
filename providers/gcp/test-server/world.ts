// Providers over the test server, and the least of a cluster: Services that take patches, events, a ConfigMap.
import type { Clock, CloudClient, CloudProvider, KubeObject, Logger, Node, Rng, Service } from 'sagong/cloud-provider';
import { type HastyClock, hastyClock, seededRng } from 'sagong/cloud-provider/test-server';
import type { FlagValues } from '../src/config/flags.ts';
import type { GceConfig } from '../src/config/schema.ts';
import { createProvider } from '../src/provider.ts';
import { network, project, region, startTestServer, type TestServer, zones } from './index.ts';

export const silent: Logger = { error() {}, warn() {}, info() {}, debug() {}, with: () => silent };
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

export interface TestCluster {
  client(name: string): CloudClient;
  events: { reason?: string; message?: string; type?: string }[];
  patches: { name?: string; subresource?: string; body: unknown }[];
  objects: Map<string, KubeObject>;
}

/** A cluster whose ID is known. */
export function testCluster(): TestCluster {
  const objects = new Map<string, KubeObject>([
    ['configmaps ingress-uid', { metadata: { name: 'ingress-uid' }, data: { uid: clusterId } } as KubeObject],
  ]);
  const cluster: TestCluster = { events: [], patches: [], objects, client: () => client };
  const refused = (reason: string): Promise<never> => Promise.reject(Object.assign(new Error(reason), { status: { reason } }));
  const none = (): Promise<never> => Promise.reject(new Error('not needed'));
  const client: CloudClient = {
    resource: ({ resource }) => ({
      get: (name) =>
        objects.has(`${resource} ${name}`) ? Promise.resolve(objects.get(`${resource} ${name}`) as never) : refused('NotFound'),
      list: none,
      update: none,
      create(object) {
        const key = `${resource} ${object.metadata.name}`;
        if (objects.has(key)) return refused('AlreadyExists');
        if (resource === 'events') cluster.events.push(object as never);
        else objects.set(key, object);
        return Promise.resolve(object);
      },
    }),
    transport: {
      call({ name, subresource, patch }) {
        cluster.patches.push({ ...(name && { name }), ...(subresource && { subresource }), body: patch?.body });
        return Promise.resolve({} as never);
      },
      watch: none,
      raw: none,
      close() {},
    },
  };
  return cluster;
}

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
  const cluster = testCluster();
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
  const context = { config: { 'api-endpoint': server.endpoint, ...config }, configDir: '/', clock, rng, logger: silent, flags };
  const tokens = { headers: () => Promise.resolve({ authorization: `Bearer ${server.token}` }), refused() {} };
  const cloud = await createProvider(context, { tokens });
  await cloud.initialize?.({ client: cluster.client, signal: new AbortController().signal });
  return cloud;
}

/** A Service of type LoadBalancer with one port. */
export const serviceWith = (
  annotations: Record<string, string> = {},
  spec: Partial<Service['spec']> = {},
  metadata: Partial<Service['metadata']> = {},
): Service => ({
  metadata: { name: 'web', namespace: 'shop', uid: '5a0c5d2e-1111-4222-8333-944445555666', annotations, ...metadata },
  spec: {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Cluster',
    sessionAffinity: 'None',
    ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30_080 }],
    ...spec,
  },
  status: { loadBalancer: {} },
});
/** The name of its load balancer. */
export const balancerName = 'a5a0c5d2e111142228333944445555666'.slice(0, 32);

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

export { network, project, region, zones };
