// The provider `local`: a client of the local cloud's HTTP API, as any vendor's provider is of its vendor's.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type CloudProvider,
  cloudProviderApiVersion,
  type CloudProviderDefinition,
  type CreateContext,
  defineCloudProvider,
} from '#cloud-provider';
import type { Clock } from '#utils';
import { createCloudClient } from '../client/index.ts';
import type { ProviderContext } from './account.ts';
import { configSchema, type LocalCloudConfig } from './config.ts';
import { localInstances, providerName } from './instances.ts';
import { tokenKeepMs } from './limits.ts';
import { localLoadBalancers } from './load-balancers.ts';
import { localRoutes } from './routes.ts';
import { startSweeps } from './sweep.ts';

/** A token from a file, read again from time to time. Throws when it cannot be read and never could. */
function fileToken(path: string, clock: Clock): () => string {
  let token = readFileSync(path, 'utf8').trim();
  let readAtMs = clock.monotonic();
  return () => {
    if (clock.monotonic() - readAtMs < tokenKeepMs) return token;
    readAtMs = clock.monotonic();
    try {
      token = readFileSync(path, 'utf8').trim() || token;
    } catch {
      // The one known is good until the API says otherwise.
    }
    return token;
  };
}

function tokenOf({ token, tokenFile }: LocalCloudConfig, configDir: string, clock: Clock): string | (() => string) {
  if (tokenFile !== undefined) return fileToken(resolve(configDir, tokenFile), clock);
  if (token !== undefined) return token;
  throw new Error('the cloud provider "local" needs a token or a tokenFile');
}

function create({ config, configDir, clock, logger }: CreateContext<LocalCloudConfig>): CloudProvider {
  const { url, caFile } = config;
  const api = createCloudClient({
    url,
    token: tokenOf(config, configDir, clock),
    ...(caFile !== undefined && { ca: readFileSync(resolve(configDir, caFile)) }),
  });
  return localCloud({ api, config, clock, logger });
}

/** The provider over a client of the cloud, which it closes when its manager stops. */
export function localCloud(context: ProviderContext): CloudProvider {
  return {
    hasClusterId: () => true,
    initialize(given) {
      given.signal.addEventListener('abort', () => context.api.close(), { once: true });
      startSweeps(context, given);
    },
    instancesV2: localInstances(context),
    routes: localRoutes(context),
    loadBalancer: localLoadBalancers(context),
  };
}

export const localCloudProvider: CloudProviderDefinition<LocalCloudConfig> = defineCloudProvider<LocalCloudConfig>({
  name: providerName,
  apiVersion: cloudProviderApiVersion,
  configSchema,
  create,
});
