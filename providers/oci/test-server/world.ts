// Providers over the test server.
import type { Clock, CloudProvider, Logger, Node, ProviderMetrics, Rng } from 'sagong/cloud-provider';
import {
  type HastyClock,
  hastyClock,
  seededRng,
  silentLogger,
  type TestCluster,
  testCluster,
} from 'sagong/cloud-provider/test-server';
import type { Config } from '../src/config/schema.ts';
import { createProvider } from '../src/provider.ts';
import { balancerSubnet, compartment, type InstanceOptions, region, startTestServer, type TestServer, vcn } from './index.ts';

export interface OpenOptions {
  config?: Config;
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

export async function openWorld(): Promise<TestWorld> {
  const [clock, rng] = [hastyClock(), seededRng(1)];
  const server = await startTestServer({ clock, rng });
  const cluster = testCluster();
  return { server, clock, cluster, open: (options = {}) => openProvider(server, { clock, rng }, cluster, options) };
}

export const configFor = ({ user, url }: TestServer): Config => ({
  auth: { region, tenancy: user.tenancy, user: user.user, fingerprint: user.fingerprint, key: user.key },
  compartment,
  vcn,
  endpoint: url,
  loadBalancer: { subnet1: balancerSubnet },
  rateLimiter: { disableRateLimiter: true },
});

export async function openProvider(
  server: TestServer,
  { clock, rng }: { clock: Clock; rng: Rng },
  cluster: Pick<TestCluster, 'client'>,
  { config = {}, env = {}, metrics, logger = silentLogger, url = server.url }: OpenOptions = {},
): Promise<CloudProvider> {
  const whole = { ...configFor(server), endpoint: url, ...config };
  const context = { config: whole, configDir: '/', clock, rng, logger, ...(metrics && { metrics }) };
  const cloud = await createProvider(context, env);
  await cloud.initialize?.({ client: cluster.client, signal: new AbortController().signal });
  return cloud;
}

/** Starts instances and gives their Nodes as the manager keeps them. */
export function addNodes({ server }: Pick<TestWorld, 'server'>, names: readonly string[], options: InstanceOptions = {}): Node[] {
  return names.map((name) => {
    const { id, privateIp } = server.account.addInstance(name, options);
    const addresses = [{ type: 'InternalIP', address: privateIp }];
    return { metadata: { name, labels: {} }, spec: { providerID: `oci://${id}` }, status: { addresses } };
  });
}
