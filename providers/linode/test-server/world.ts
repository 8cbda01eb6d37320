// Providers over the test server, and the least of a cluster: Services that take patches, events, Secrets.
import type {
  Clock,
  CloudClient,
  CloudProvider,
  KubeObject,
  Logger,
  Node,
  ProviderMetrics,
  Rng,
  Service,
} from 'sagong/cloud-provider';
import { type HastyClock, hastyClock, seededRng } from 'sagong/cloud-provider/test-server';
import type { Config } from '../src/config/schema.ts';
import { createProvider } from '../src/provider.ts';
import { balancerLabel } from '../src/names.ts';
import type { LinodeOptions } from './account.ts';
import { region, startTestServer, type TestServer } from './index.ts';

export const silent: Logger = { error() {}, warn() {}, info() {}, debug() {}, with: () => silent };

export interface TestCluster {
  client(name: string): CloudClient;
  events: { reason?: string; message?: string; type?: string }[];
  /** Secrets by name. */
  secrets: Map<string, KubeObject & { data: Record<string, string> }>;
}

export function testCluster(): TestCluster {
  const none = (): Promise<never> => Promise.reject(new Error('not needed'));
  const cluster: TestCluster = { events: [], secrets: new Map(), client: () => client };
  const client: CloudClient = {
    resource: ({ resource }) => ({
      get(name) {
        const found = resource === 'secrets' ? cluster.secrets.get(name) : undefined;
        return found ? Promise.resolve(found as never) : Promise.reject(new Error(`${resource} "${name}" not found`));
      },
      list: none,
      update: none,
      create(object) {
        if (resource === 'events') cluster.events.push(object as never);
        return Promise.resolve(object);
      },
    }),
    transport: { call: none, watch: none, raw: none, close() {} },
  };
  return cluster;
}

export interface OpenOptions {
  config?: Config;
  flags?: Record<string, unknown>;
  env?: Record<string, string>;
  metrics?: ProviderMetrics;
  logger?: Logger;
  /** Another address of the server. */
  url?: string;
}
export interface TestWorld {
  server: TestServer;
  clock: HastyClock;
  cluster: TestCluster;
  /** Another provider over the same account, as a replica of the manager has. */
  open(options?: OpenOptions): Promise<CloudProvider>;
}

export async function openWorld({
  clock = hastyClock(),
  rng = seededRng(1),
}: {
  clock?: HastyClock;
  rng?: Rng;
} = {}): Promise<TestWorld> {
  const server = await startTestServer({ clock, rng });
  const cluster = testCluster();
  return { server, clock, cluster, open: (options = {}) => openProvider(server, { clock, rng }, cluster, options) };
}

export async function openProvider(
  server: TestServer,
  { clock, rng }: { clock: Clock; rng: Rng },
  cluster: Pick<TestCluster, 'client'>,
  { config = {}, flags = {}, env = {}, metrics, logger = silent, url = server.endpoint }: OpenOptions = {},
): Promise<CloudProvider> {
  const variables = { LINODE_API_TOKEN: server.token, LINODE_REGION: region, LINODE_URL: url, ...env };
  const context = { config, configDir: '/', clock, rng, logger, flags, ...(metrics && { metrics }) };
  const cloud = await createProvider(context, variables);
  await cloud.initialize?.({ client: cluster.client, signal: new AbortController().signal });
  return cloud;
}

export const serviceUid = '5a0c5d2e-1111-4222-8333-944445555666';

/** A Service of type LoadBalancer with one port. Annotations come without their prefix. */
export const serviceWith = (
  annotations: Record<string, string> = {},
  spec: Partial<Service['spec']> = {},
  more: Partial<Service> = {},
): Service => ({
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: serviceUid,
    annotations: Object.fromEntries(
      Object.entries(annotations).map(([name, value]) => [`service.beta.kubernetes.io/linode-loadbalancer-${name}`, value]),
    ),
  },
  spec: {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Cluster',
    sessionAffinity: 'None',
    ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30_080 }],
    ...spec,
  },
  status: { loadBalancer: {} },
  ...more,
});
/** The label of its NodeBalancer. */
export const label = balancerLabel('ccm', serviceWith());

/** Buys Linodes and gives their Nodes as the manager keeps them. */
export function addNodes({ server }: TestWorld, names: readonly string[], options: LinodeOptions = {}): Node[] {
  return names.map((name) => {
    const linode = server.account.addLinode(name, region, options);
    const inVpc = server.account.of('interface').find((one) => one.linode === linode.id)?.address;
    const addresses = [inVpc, linode.ipv4[1]].flatMap((address) => (address ? [{ type: 'InternalIP', address }] : []));
    return { metadata: { name }, spec: { providerID: `linode://${linode.id}` }, status: { addresses } };
  });
}

export { region };
