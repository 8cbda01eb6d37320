// Providers over the test server.
import type { Clock, CloudProvider, Logger, Node, ProviderMetrics, Rng, Service } from 'sagong/cloud-provider';
import {
  openProviderWorld,
  type ProviderWorld,
  silentLogger,
  testService,
  testServiceUid,
  type WorldParts,
} from 'sagong/cloud-provider/test-server';
import { prefix } from '../src/annotations.ts';
import type { Config } from '../src/config/schema.ts';
import { createProvider } from '../src/provider.ts';
import { balancerLabel } from '../src/names.ts';
import type { LinodeOptions } from '../src/emulator/account.ts';
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
export type TestWorld = ProviderWorld<TestServer, OpenOptions>;

export const openWorld = (parts: Partial<WorldParts> = {}): Promise<TestWorld> =>
  openProviderWorld(startTestServer, openProvider, parts);

export function openProvider(
  server: TestServer,
  { clock, rng }: { clock: Clock; rng: Rng },
  { config = {}, flags = {}, env = {}, metrics, logger = silentLogger, url = server.endpoint }: OpenOptions = {},
): Promise<CloudProvider> {
  const variables = { LINODE_API_TOKEN: server.token, LINODE_REGION: region, LINODE_URL: url, ...env };
  const context = { config, configDir: '/', clock, rng, logger, flags, ...(metrics && { metrics }) };
  return createProvider(context, variables);
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
/** The label of the NodeBalancer that the tests' Service has. */
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
