// Where the cluster lives and how it is to be treated, from the configuration, with all defaults.
import type { CreateContext } from 'sagong/cloud-provider';
import { type RateLimiter, type RetryPolicy, tokenBucket } from 'sagong/cloud-provider/kit';
import type { Pace } from './api/patient-policy.ts';
import { cloudNamed } from './config/clouds.ts';
import { type AzureConfig, type RateConfig, rateSections } from './config/schema.ts';
import * as limits from './limits.ts';
import { mergedTags, type Tags } from './tags.ts';

export interface Settings {
  endpoint: string;
  authority: string;
  scope: string;
  subscription: string;
  networkSubscription: string;
  group: string;
  location: string;
  extendedLocation: { name: string; type: 'EdgeZone' } | undefined;
  network: { name: string; group: string; subnet: string };
  securityGroup: { name: string; group: string };
  routeTable: { name: string; group: string };
  balancer: { name: string | undefined; group: string };
  vmType: AzureConfig['vmType'];
  /** Whether nodes may be members of scale sets of mode Uniform, single machines, members of scale sets of mode Flexible. */
  looks: { scaleSets: boolean; machines: boolean; flexible: boolean };
  tags: Tags;
  systemTags: readonly string[];
  preConfiguredPools: AzureConfig['preConfiguredBackendPoolLoadBalancerTypes'];
  excludeControlPlane: boolean;
  disableOutboundSnat: boolean;
  rulesMax: number;
  /** Backends are addresses in the pool, in the place of network interfaces that name the pool. */
  poolOfAddresses: boolean;
  memberWritesMax: number;
  sharedProbe: { port: number; path: string } | undefined;
  vmTtlMs: number;
  scaleSetTtlMs: number;
  memberTtlMs: number;
  graceMs: number;
}

/** Everything but what is asked for in the cloud. Throws for a cloud that is not known. */
export function settingsOf(config: AzureConfig): Settings {
  const { resourceManager, authority } = cloudNamed(config.cloud);
  const { resourceGroup: group, vmType } = config;
  const ttlMs = (seconds: number | undefined, usual: number): number =>
    config.disableAPICallCache ? 0 : (seconds || usual) * 1000;
  const memberSeconds = config.vmssVirtualMachinesCacheTTLInSeconds;
  return {
    endpoint: (config.resourceManagerEndpoint ?? resourceManager).replace(/\/+$/, ''),
    authority,
    scope: `${resourceManager}/.default`,
    subscription: config.subscriptionId,
    networkSubscription: config.networkResourceSubscriptionID ?? config.subscriptionId,
    group,
    location: config.location,
    extendedLocation: config.extendedLocationName ? { name: config.extendedLocationName, type: 'EdgeZone' } : undefined,
    network: { name: config.vnetName ?? '', group: config.vnetResourceGroup ?? group, subnet: config.subnetName ?? '' },
    securityGroup: { name: config.securityGroupName ?? '', group: config.securityGroupResourceGroup ?? group },
    routeTable: { name: config.routeTableName ?? '', group: config.routeTableResourceGroup ?? group },
    balancer: { name: config.loadBalancerName, group: config.loadBalancerResourceGroup ?? group },
    vmType,
    looks: {
      scaleSets: vmType === 'vmss',
      machines: vmType !== 'vmss' || !config.disableAvailabilitySetNodes,
      flexible: vmType === 'vmssflex' || config.enableVmssFlexNodes === true,
    },
    tags: mergedTags(config.tags, config.tagsMap),
    systemTags: (config.systemTags ?? '')
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
    preConfiguredPools: config.preConfiguredBackendPoolLoadBalancerTypes,
    excludeControlPlane: config.excludeMasterFromStandardLB,
    disableOutboundSnat: config.disableOutboundSNAT ?? false,
    rulesMax: config.maximumLoadBalancerRuleCount || limits.rulesOfBalancerMax,
    poolOfAddresses: config.loadBalancerBackendPoolConfigurationType?.toLowerCase() === 'nodeip',
    memberWritesMax: Math.max(1, config.putVMSSVMBatchSize),
    sharedProbe:
      config.clusterServiceLoadBalancerHealthProbeMode === 'shared'
        ? {
            port: config.clusterServiceSharedLoadBalancerHealthProbePort ?? limits.nodesHealthPort,
            path: config.clusterServiceSharedLoadBalancerHealthProbePath ?? '/healthz',
          }
        : undefined,
    vmTtlMs: ttlMs(config.vmCacheTTLInSeconds, limits.vmCacheSecondsDefault),
    scaleSetTtlMs: ttlMs(config.vmssCacheTTLInSeconds, limits.vmssCacheSecondsDefault),
    memberTtlMs: ttlMs(memberSeconds, limits.vmCacheSecondsDefault),
    graceMs: config.nodeInstanceNotFoundGracePeriodInSeconds * 1000,
  };
}

/** Retries of a call: the kit's, unless the configuration says otherwise. */
export const retryOf = (config: AzureConfig): Partial<RetryPolicy> =>
  config.cloudProviderBackoff
    ? {
        attemptsMax: 1 + (config.cloudProviderBackoffRetries || limits.backoffRetriesDefault),
        baseMs: (config.cloudProviderBackoffDuration || limits.backoffSecondsDefault) * 1000,
        waitMaxMs: (config.cloudProviderBackoffDuration || limits.backoffSecondsDefault) * 4_000,
      }
    : {};

/** Limiters by type of resource; what has no section of its own shares one pair. */
export function pacesOf(config: AzureConfig, clock: CreateContext<unknown>['clock']): (type: string) => Pace {
  const bucket = (perSecond: number, burst: number): RateLimiter => tokenBucket({ clock, perSecond, burst });
  const paceFor = (rate: RateConfig): Pace => {
    if (!rate.cloudProviderRateLimit) {
      const one = bucket(limits.requestsPerSecond, limits.requestsBurst);
      return { read: one, write: one };
    }
    const qps = rate.cloudProviderRateLimitQPS ?? limits.rateLimitQpsDefault;
    const burst = rate.cloudProviderRateLimitBucket ?? limits.rateLimitBucketDefault;
    return {
      read: bucket(qps, burst),
      write: bucket(rate.cloudProviderRateLimitQPSWrite ?? qps, rate.cloudProviderRateLimitBucketWrite ?? burst),
    };
  };
  const shared = paceFor(config);
  const own = new Map<string, Pace>();
  for (const [section, type] of Object.entries(rateSections)) {
    const rate = config[section as keyof typeof rateSections];
    if (rate) own.set(type.toLowerCase(), paceFor({ cloudProviderRateLimit: config.cloudProviderRateLimit, ...rate }));
  }
  return (type) => own.get(type.toLowerCase()) ?? own.get(type.split('/')[0]?.toLowerCase() ?? '') ?? shared;
}
