import { ConfigError, validateConfig } from 'sagong/cloud-provider';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { afterTries, openWorld, readSdk, sdkTimeoutMs, testCluster, type TestWorld } from '../test-server/world.ts';
import { type Config, configSchema, settingsFrom } from './config.ts';

beforeAll(readSdk, sdkTimeoutMs);

const checked = (value: unknown): Config => validateConfig('digitalocean', configSchema, value) as Config;
const full = checked({
  accessToken: 'from-file',
  apiURL: 'https://api.example.com',
  clusterID: 'c',
  clusterVPCID: 'v',
  region: 'fra1',
  apiRateLimitQPS: 5,
  defaultLoadBalancerType: 'REGIONAL',
  publicAccessFirewall: { name: 'fw', tags: ['workers'] },
});

describe('settings', () => {
  it('come from the file', () => {
    expect(settingsFrom(full, {})).toEqual({
      accessToken: 'from-file',
      apiUrl: 'https://api.example.com',
      metadataUrl: 'http://169.254.169.254',
      clusterId: 'c',
      vpcId: 'v',
      region: 'fra1',
      requestsPerSecond: 5,
      defaultType: 'REGIONAL',
      firewall: { name: 'fw', tags: ['workers'] },
    });
  });
  it('come from the environment, which wins', () => {
    const env = {
      DO_ACCESS_TOKEN: 'from-env',
      DO_OVERRIDE_URL: 'http://127.0.0.1:1',
      DO_CLUSTER_ID: 'ce',
      DO_CLUSTER_VPC_ID: 've',
      REGION: 'nyc3',
      DO_API_RATE_LIMIT_QPS: '2.5',
      DEFAULT_LB_TYPE: 'REGIONAL_NETWORK',
      PUBLIC_ACCESS_FIREWALL_NAME: 'fwe',
      PUBLIC_ACCESS_FIREWALL_TAGS: 'one,two',
    };
    const expected = {
      accessToken: 'from-env',
      apiUrl: 'http://127.0.0.1:1',
      metadataUrl: 'http://169.254.169.254',
      clusterId: 'ce',
      vpcId: 've',
      region: 'nyc3',
      requestsPerSecond: 2.5,
      defaultType: 'REGIONAL_NETWORK',
      firewall: { name: 'fwe', tags: ['one', 'two'] },
    };
    expect(settingsFrom(full, env)).toEqual(expected);
    expect(settingsFrom(checked({}), env)).toEqual(expected);
  });
  it('have defaults', () => {
    expect(settingsFrom(checked({}), { DO_ACCESS_TOKEN: 't', DEFAULT_LB_TYPE: 'GLOBAL' })).toEqual({
      accessToken: 't',
      apiUrl: 'https://api.digitalocean.com',
      metadataUrl: 'http://169.254.169.254',
      clusterId: '',
      vpcId: '',
      region: '',
      defaultType: 'REGIONAL_NETWORK',
    });
  });
  it.each<[Record<string, string>, string]>([
    [{}, 'environment variable "DO_ACCESS_TOKEN" is required'],
    [{ DO_ACCESS_TOKEN: 't', DO_API_RATE_LIMIT_QPS: 'fast' }, 'environment variable DO_API_RATE_LIMIT_QPS: "fast"'],
    [
      { DO_ACCESS_TOKEN: 't', PUBLIC_ACCESS_FIREWALL_TAGS: 'x' },
      'environment variable "PUBLIC_ACCESS_FIREWALL_NAME" is required when managing firewalls',
    ],
    [
      { DO_ACCESS_TOKEN: 't', PUBLIC_ACCESS_FIREWALL_NAME: 'x' },
      'environment variable "PUBLIC_ACCESS_FIREWALL_TAGS" is required when managing firewalls',
    ],
  ])('refuse the environment %j', (env, message) => {
    expect(() => settingsFrom(checked({}), env)).toThrow(message);
  });
  it('refuse a file that is wrong, field by field', () => {
    const problems = (value: unknown): readonly string[] => {
      try {
        checked(value);
        return [];
      } catch (error) {
        return error instanceof ConfigError ? error.problems : [String(error)];
      }
    };
    expect(
      problems({ apiURL: 'ftp://x', defaultLoadBalancerType: 'GLOBAL', token: 'x', publicAccessFirewall: { name: 'f' } }),
    ).toEqual([
      'apiURL: must match ^https?://, not "ftp://x"',
      'defaultLoadBalancerType: must be one of REGIONAL, REGIONAL_NETWORK, not "GLOBAL"',
      expect.stringContaining('token: is not known'),
      'publicAccessFirewall.tags: is required',
    ]);
  });
});

describe('the region', () => {
  let world: TestWorld;
  afterEach(() => world.close());
  const initialized = async (region?: string): Promise<void> => {
    const cloud = await world.open({ region: region ?? '' });
    await cloud.initialize?.({ client: testCluster().client, signal: new AbortController().signal });
  };
  it('must be one of the API', async () => {
    world = await openWorld();
    await initialized('nyc3');
    await expect(initialized('atlantis1')).rejects.toThrow('failed to determine region: invalid region specified: atlantis1');
  });
  it('is that of the own machine when none is given', async () => {
    world = await openWorld();
    await expect(initialized()).rejects.toThrow('failed to determine region: droplet metadata returned non-200 status code: 404');
    world.server.account.ownRegion = 'fra1';
    await initialized();
  });
  it('is asked for again after a failure', async () => {
    world = await openWorld();
    const cloud = await world.open();
    const context = { client: testCluster().client, signal: new AbortController().signal };
    world.server.fail({ status: 500, times: 4 });
    await expect(afterTries(world.clock, Promise.resolve(cloud.initialize?.(context)))).rejects.toThrow(
      'failed to determine if region is valid',
    );
    await cloud.initialize?.(context);
  });
});
