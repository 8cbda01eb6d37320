// Providers over the test server.
import type { Clock, CloudProvider, Logger, Node, ProviderMetrics, Rng } from 'sagong/cloud-provider';
import { openProviderWorld, type ProviderWorld, silentLogger } from 'sagong/cloud-provider/test-server';
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
export type TestWorld = ProviderWorld<TestServer, OpenOptions>;

export const openWorld = (): Promise<TestWorld> => openProviderWorld(startTestServer, openProvider);

export const configFor = ({ user, url }: TestServer): Config => ({
  auth: { region, tenancy: user.tenancy, user: user.user, fingerprint: user.fingerprint, key: user.key },
  compartment,
  vcn,
  endpoint: url,
  loadBalancer: { subnet1: balancerSubnet },
  rateLimiter: { disableRateLimiter: true },
});

export function openProvider(
  server: TestServer,
  { clock, rng }: { clock: Clock; rng: Rng },
  { config = {}, env = {}, metrics, logger = silentLogger, url = server.url }: OpenOptions = {},
): Promise<CloudProvider> {
  const whole = { ...configFor(server), endpoint: url, ...config };
  const context = { config: whole, configDir: '/', clock, rng, logger, ...(metrics && { metrics }) };
  return createProvider(context, env);
}

/** Starts instances and gives their Nodes as the manager keeps them. */
export function addNodes({ server }: Pick<TestWorld, 'server'>, names: readonly string[], options: InstanceOptions = {}): Node[] {
  return names.map((name) => {
    const { id, privateIp } = server.account.addInstance(name, options);
    const addresses = [{ type: 'InternalIP', address: privateIp }];
    return { metadata: { name, labels: {} }, spec: { providerID: `oci://${id}` }, status: { addresses } };
  });
}
