// Providers over the test server.
import type { Clock, CloudProvider, Logger, Node, ProviderMetrics, Rng, Service } from 'sagong/cloud-provider';
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
import { prefix } from '../src/annotations.ts';
import type { Config } from '../src/config/schema.ts';
import { createProvider } from '../src/provider.ts';
import { balancerLabel } from '../src/names.ts';
import type { LinodeOptions } from './account.ts';
import { region, startTestServer, type TestServer } from './index.ts';

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
  { config = {}, flags = {}, env = {}, metrics, logger = silentLogger, url = server.endpoint }: OpenOptions = {},
): Promise<CloudProvider> {
  const variables = { LINODE_API_TOKEN: server.token, LINODE_REGION: region, LINODE_URL: url, ...env };
  const context = { config, configDir: '/', clock, rng, logger, flags, ...(metrics && { metrics }) };
  const cloud = await createProvider(context, variables);
  await cloud.initialize?.({ client: cluster.client, signal: new AbortController().signal });
  return cloud;
}

/** The Service shop/web. Annotations come without their prefix. */
export const serviceWith = (
  annotations: Record<string, string> = {},
  spec: Partial<Service['spec']> = {},
  more: Partial<Service> = {},
): Service => ({
  ...testService(Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`${prefix}${name}`, value])), spec),
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

export { region, silentLogger as silent, testServiceUid as serviceUid };
