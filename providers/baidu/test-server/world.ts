// Providers over the test server.
import type { Clock, CloudProvider, Logger, Node, ProviderMetrics, Rng, Service } from 'sagong/cloud-provider';
import { openProviderWorld, type ProviderWorld, silentLogger, testService } from 'sagong/cloud-provider/test-server';
import type { Config } from '../src/config/schema.ts';
import { createProvider } from '../src/provider.ts';
import type { InstanceOptions } from '../src/emulator/account.ts';
import { startTestServer, type TestServer, vpc } from './index.ts';

export const clusterId = 'c-test0001';

export interface OpenOptions {
  config?: Partial<Config>;
  env?: Record<string, string>;
  metrics?: ProviderMetrics;
  logger?: Logger;
  /** Another address of the server. */
  url?: string;
}
export type TestWorld = ProviderWorld<TestServer, OpenOptions>;

export const openWorld = (): Promise<TestWorld> => openProviderWorld(startTestServer, openProvider);

export function openProvider(
  server: TestServer,
  { clock, rng }: { clock: Clock; rng: Rng },
  { config = {}, env = {}, metrics, logger = silentLogger, url = server.url }: OpenOptions = {},
): Promise<CloudProvider> {
  const [{ accessKeyId, secretAccessKey }] = server.credentials;
  const context = {
    config: {
      ClusterId: clusterId,
      AccessKeyID: accessKeyId,
      SecretAccessKey: secretAccessKey,
      VpcId: vpc,
      Endpoints: { blb: url, eip: url, vpc: url, bcc: url },
      ...config,
    },
    configDir: '/',
    clock,
    rng,
    logger,
    ...(metrics && { metrics }),
  };
  return createProvider(context, env);
}

/** The Service shop/web. Annotations come without `service.beta.kubernetes.io/`. */
export const serviceWith = (annotations: Record<string, string> = {}, spec: Partial<Service['spec']> = {}): Service =>
  testService(
    Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`service.beta.kubernetes.io/${name}`, value])),
    spec,
  );

/** Buys instances and gives their Nodes as the manager keeps them. */
export function addNodes({ server }: TestWorld, names: readonly string[], options: InstanceOptions = {}): Node[] {
  return names.map((name) => {
    const { id, internalIp } = server.account.addInstance(name, options);
    const addresses = [{ type: 'InternalIP', address: internalIp }];
    return { metadata: { name, labels: {} }, spec: { providerID: `cce://${id}` }, status: { addresses } };
  });
}
