// The parts of the provider put together: one resource group of Azure, one cluster.
import type { TokenCredential } from '@azure/identity';
import type { CloudProvider, CreateContext } from 'sagong/cloud-provider';
import { createArm } from './api/arm.ts';
import { createClients } from './api/clients.ts';
import { createOperationMetrics } from './api/metrics.ts';
import { patientPolicy } from './api/patient-policy.ts';
import type { Cloud } from './cloud.ts';
import { checkConfig, tellIgnored } from './config/config.ts';
import { type Env, findCredential } from './credentials/credentials.ts';
import { createFinder } from './instances/finder.ts';
import { createInstances } from './instances/instances.ts';
import { createInventory } from './instances/inventory.ts';
import { Backends } from './load-balancer/backends.ts';
import { createClaims } from './load-balancer/claims.ts';
import { createLoadBalancers } from './load-balancer/load-balancers.ts';
import { createMembership } from './load-balancer/membership.ts';
import { PublicIps } from './load-balancer/public-ips.ts';
import { createSecurity } from './load-balancer/security.ts';
import { createRoutes } from './routes.ts';
import { pacesOf, retryOf, settingsOf } from './settings.ts';
import { createStores } from './stores.ts';

const userAgentDefault = 'kubernetes-cloudprovider';

export interface ProviderDeps {
  /** In the place of the credentials that the configuration names. */
  credential?: TokenCredential;
  env?: Env;
}

export async function createProvider(context: CreateContext<unknown>, deps: ProviderDeps = {}): Promise<CloudProvider> {
  const { configDir, clock, logger, rng, metrics } = context;
  const config = checkConfig(context.config);
  const settings = settingsOf(config);
  const { endpoint, scope, subscription, networkSubscription, group, location, authority } = settings;
  tellIgnored(config, logger);
  const { credential, from } = deps.credential
    ? { credential: deps.credential, from: 'the caller' }
    : await findCredential({ config, configDir, authority, clock, env: deps.env ?? process.env });
  logger.info('Azure cloud provider', { subscription, group, location, endpoint, credentials: from });

  const policy = patientPolicy({
    clock,
    ...(rng && { rng }),
    ...(metrics && { metrics }),
    paceOf: pacesOf(config, clock),
    retry: retryOf(config),
  });
  const userAgent = config.userAgent ?? userAgentDefault;
  const arm = createArm(
    createClients({ credential, subscription, networkSubscription, endpoint, scope, policy, userAgent }),
    clock,
  );
  const inventory = createInventory({ arm, settings, clock });
  const stores = createStores(arm, { beforeDelete: (_group, _name, balancer, signal) => backends.detach(balancer, signal) });
  const cloud: Cloud = {
    arm,
    stores,
    settings,
    inventory,
    claims: createClaims(),
    finder: createFinder(arm, settings, inventory),
    observe: createOperationMetrics({ metrics, clock, group, subscription: networkSubscription }),
    clock,
    logger,
  };
  const backends = new Backends(cloud, createMembership({ arm, stores }));
  return {
    instancesV2: createInstances({ arm, finder: cloud.finder, settings, clock }),
    loadBalancer: createLoadBalancers({ cloud, backends, publicIps: new PublicIps(cloud), security: createSecurity(cloud) }),
    routes: createRoutes(cloud),
    setInformers: cloud.claims.watch,
    hasClusterId: () => true,
  };
}
