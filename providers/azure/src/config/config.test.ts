import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCloudProvider } from 'sagong/cloud-provider';
import { hastyClock, silentLogger } from 'sagong/cloud-provider/test-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { defaultConfig } from '../../test-server/world.ts';
import { pacesOf, retryOf, settingsOf } from '../settings.ts';
import { checkConfig, tellIgnored } from './config.ts';

const read = (more: Record<string, unknown> = {}) => checkConfig({ ...defaultConfig, ...more });

describe('cloud.conf', () => {
  it('is JSON, loaded by the name of the provider', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'azure-'));
    onTestFinished(() => rm(dir, { recursive: true }));
    const configFile = join(dir, 'cloud.conf');
    const provider = 'azure';
    const load = async (config: unknown) => {
      await writeFile(configFile, JSON.stringify(config));
      return loadCloudProvider({ provider, configFile, builtIn: {} }, { clock: hastyClock(), logger: silentLogger });
    };
    await expect(load({ ...defaultConfig, aadClientId: 'x' })).rejects.toThrow('no credentials; looked for in: useFederated');
    await expect(load({ resourceGroup: 'shop' })).rejects.toThrow('subscriptionId: is required; location: is required');
    const loaded = await load({ ...defaultConfig, aadClientId: 'x', aadClientSecret: 'y' });
    expect([loaded?.name, loaded?.cloud.hasClusterId()]).toEqual(['azure', true]);
  });
  it.each([
    [{ resourcegroup: 'x' }, 'resourcegroup: is not known'],
    [{ subscriptionId: 'x' }, 'subscriptionId: must be a UUID'],
    [{ vmType: 'pods' }, 'vmType: Invalid option'],
    [{ loadBalancerSku: 'basic' }, 'loadBalancerSku: only "standard" is supported: Azure has retired basic load balancers'],
    [{ loadBalancerBackendPoolConfigurationType: 'podIP' }, 'must be nodeIPConfiguration or nodeIP'],
    [
      { multipleStandardLoadBalancerConfigurations: [{ name: 'a' }] },
      'is not supported: there is one load balancer of each kind',
    ],
    [{ resourceManagerEndpoint: 'http://example.com' }, 'resourceManagerEndpoint: must begin with https://'],
    [{ resourceManagerEndpoint: 'http://127.0.0.1:80@example.com' }, 'resourceManagerEndpoint: must begin with https://'],
    [{ aadClientSecret: 's' }, 'aadClientId: is required with aadClientSecret'],
    [{ aadClientId: 'i', aadClientSecret: 's', aadClientCertPath: 'p' }, 'aadClientCertPath: contradicts aadClientSecret'],
    [{ userAssignedIdentityID: 'x' }, 'useManagedIdentityExtension: is required with userAssignedIdentityID'],
    [{ loadBalancerRateLimit: { qps: 1 } }, 'loadBalancerRateLimit.qps: is not known'],
    [{ identitySystem: 'adfs' }, 'identitySystem: only "azure_ad" is supported'],
  ])('that says %j is refused by name', (more: Record<string, unknown>, words) => {
    expect(() => read(more)).toThrow(words);
  });
  it('may name fields that change nothing here, and is told so', () => {
    const told: unknown[] = [];
    const logger = { ...silentLogger, warn: (_text: string, fields?: unknown) => void told.push(fields) };
    tellIgnored(read({ useInstanceMetadata: true, routeRateLimit: {} }), logger);
    expect(told).toMatchObject([{ field: 'useInstanceMetadata' }, { field: 'routeRateLimit' }]);
  });
  it('has upstream’s defaults', () => {
    const { vmType: _, ...config } = defaultConfig;
    expect(settingsOf(checkConfig(config))).toMatchObject({
      endpoint: 'https://management.azure.com',
      authority: 'https://login.microsoftonline.com',
      vmType: 'vmss',
      looks: { scaleSets: true, machines: true, flexible: false },
      excludeControlPlane: true,
      disableOutboundSnat: false,
      poolOfAddresses: false,
    });
    expect(retryOf(read({ cloudProviderBackoff: true }))).toMatchObject({ attemptsMax: 7, baseMs: 5_000 });
    expect(retryOf(read())).toEqual({});
  });
  it('names one of Azure’s clouds', () => {
    expect(settingsOf(read({ cloud: 'AzureChinaCloud' })).endpoint).toBe('https://management.chinacloudapi.cn');
    expect(settingsOf(read({ cloud: 'AzureUSGovernment' })).scope).toBe('https://management.usgovcloudapi.net/.default');
    expect(() => settingsOf(read({ cloud: 'AzureStackCloud' }))).toThrow('cloud: "AzureStackCloud" is not known');
  });
});

it('requests keep to the rates of their clients', async () => {
  const clock = hastyClock();
  const config = read({
    cloudProviderRateLimit: true,
    cloudProviderRateLimitQPS: 1,
    cloudProviderRateLimitBucket: 1,
    loadBalancerRateLimit: { cloudProviderRateLimitQPS: 100 },
  });
  const paceOf = pacesOf(config, clock);
  const took = async (type: string): Promise<number> => {
    const before = clock.monotonic();
    for (let call = 0; call < 11; call++) await paceOf(type).read.wait();
    return clock.monotonic() - before;
  };
  expect(await took('publicIPAddresses')).toBe(10_000);
  expect(await took('loadBalancers')).toBeLessThan(1_000);
});
