import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadCloudProvider, validateConfig } from 'sagong/cloud-provider';
import { hastyClock } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { silent } from '../../test-server/world.ts';
import { flags, flagValuesOf } from './flags.ts';
import { type Config, configSchema } from './schema.ts';
import { apiUrlOf, settingsFrom, tokenSource } from './settings.ts';

const folder = async (): Promise<string> => {
  const dir = await mkdtemp(join(tmpdir(), 'linode-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
};
const read = (value: unknown): Config => validateConfig('linode', configSchema, value) as Config;

describe('settings', () => {
  it('come from the environment, which wins over the file', () => {
    const env = { LINODE_REGION: 'us-ord', LINODE_URL: 'https://api.example.com', LINODE_INSTANCE_CACHE_TTL: '30' };
    expect(settingsFrom(read({ region: 'de-fra-2', externalSubnet: '172.24.0.0/16' }), env)).toEqual({
      region: 'us-ord',
      url: 'https://api.example.com/v4',
      requestTimeoutMs: 120_000,
      instanceTtlMs: 30_000,
      routesTtlMs: 60_000,
      metadataTtlMs: 300_000,
      externalSubnet: '172.24.0.0/16',
      hostnameOnly: false,
    });
    const file = { region: 'de-fra-2', url: 'http://127.0.0.1:9/v4beta/', requestTimeoutSeconds: 5, hostnameOnlyIngress: true };
    expect(settingsFrom(read(file), { LINODE_REQUEST_TIMEOUT_SECONDS: 'soon' })).toMatchObject({
      region: 'de-fra-2',
      url: 'http://127.0.0.1:9/v4beta',
      requestTimeoutMs: 5_000,
      hostnameOnly: true,
    });
    expect(settingsFrom(read(file), { LINODE_HOSTNAME_ONLY_INGRESS: 'no' }).hostnameOnly).toBe(false);
  });
  it.each([
    [{ region: 7 }, 'region: must be a string'],
    [{ apiURL: 'x' }, 'apiURL: is not known; known are region, url'],
    [{ url: 'api.linode.com' }, 'url: must match'],
    [{ requestTimeoutSeconds: 0 }, 'requestTimeoutSeconds: must be at least 1'],
    [{ externalSubnet: 'mine' }, 'externalSubnet: must match'],
  ])('that say %j are refused by name', (value, words) => {
    expect(() => read(value)).toThrow(words);
  });
  it('without a region, or with an unusable variable, are refused', () => {
    expect(() => settingsFrom({}, {})).toThrow('LINODE_REGION must be set in the environment');
    expect(() => settingsFrom({ region: 'x' }, { LINODE_EXTERNAL_SUBNET: 'mine' })).toThrow(
      'Unable to parse mine as network subnet',
    );
    expect(() => settingsFrom({ region: 'x' }, { LINODE_URL: 'ftp://x' })).toThrow('LINODE_URL: not the URL of an API');
    expect(apiUrlOf('https://api.linode.com/v4beta')).toBe('https://api.linode.com/v4beta');
  });
});

describe('the token', () => {
  const clock = hastyClock();
  const source = (env: Record<string, string>, config: Config = {}, dir = '/', tokenFile = '/nowhere/token') =>
    tokenSource({ config, configDir: dir, env, clock, tokenFile });
  it('comes from a file, which is read again when it is replaced', async () => {
    const dir = await folder();
    await writeFile(join(dir, 'token'), ' first\n');
    const { token, from } = await source({ LINODE_API_TOKEN_FILE: join(dir, 'token'), LINODE_API_TOKEN: 'other' });
    expect([await token(), from]).toEqual(['first', `the file ${join(dir, 'token')}`]);
    await writeFile(join(dir, 'token'), 'second!');
    expect(await token()).toBe('first');
    clock.skip(61_000);
    expect(await token()).toBe('second!');
  });
  it('comes from the Secret that the vendor’s chart mounts', async () => {
    const dir = await folder();
    await writeFile(join(dir, 'api-token'), 'mounted');
    expect(await (await source({ LINODE_API_TOKEN: 'other' }, {}, '/', join(dir, 'api-token'))).token()).toBe('mounted');
  });
  it('comes from the environment, or from the configuration', async () => {
    expect(await (await source({ LINODE_API_TOKEN: ' t ' }, { apiToken: 'other' })).token()).toBe('t');
    expect(await (await source({}, { apiToken: 'c' })).token()).toBe('c');
    const dir = await folder();
    await writeFile(join(dir, 'token'), 'relative');
    expect(await (await source({}, { apiTokenFile: 'token' }, dir)).token()).toBe('relative');
    expect(await (await source({ LINODE_API_TOKEN_FILE: '/nowhere', LINODE_API_TOKEN: 't' })).token()).toBe('t');
  });
  it('that is missing or unusable is told, and never shown', async () => {
    await expect(source({})).rejects.toThrow('no credentials; looked for in: the file /nowhere/token, LINODE_API_TOKEN');
    await expect(source({ LINODE_API_TOKEN_FILE: '/nowhere' })).rejects.toThrow('LINODE_API_TOKEN_FILE: /nowhere cannot be read');
    const error = await source({ LINODE_API_TOKEN: 'sec ret' }).catch((one: unknown) => String(one));
    expect(error).toContain('credentials from LINODE_API_TOKEN');
    expect(error).not.toContain('ret"');
  });
});

describe('flags', () => {
  it('have upstream’s names and defaults', () => {
    const names = Object.values(flags).map(({ name }) => name);
    for (const name of ['vpc-names', 'subnet-names', 'enable-route-controller', 'nodebalancer-tags', 'linode-tag-filter'])
      expect(names).toContain(name);
    expect(flagValuesOf(undefined)).toMatchObject({ prefix: 'ccm', subnetNames: ['default'], defaultType: 'common', vpcIds: [] });
    expect(flagValuesOf({ vpcIds: ['7'], subnetIds: ['8', '9'] })).toMatchObject({ vpcIds: [7], subnetIds: [8, 9] });
    expect(flagValuesOf({ defaultType: 'Premium', loadBalancerType: 'cilium-bgp' }).defaultType).toBe('premium');
  });
  it.each([
    [{ vpcIds: ['1'], vpcNames: ['a'] }, 'cannot have both vpc-ids and vpc-names set'],
    [{ vpcIds: ['1'] }, 'vpc-ids cannot be set without subnet-ids'],
    [{ subnetIds: ['1'] }, 'subnet-ids cannot be set without vpc-ids'],
    [{ vpcIds: ['x'], subnetIds: ['1'] }, '--vpc-ids: not an ID: "x"'],
    [{ routeController: true }, 'cannot enable route controller as vpc-names is empty'],
    [{ prefix: 'x'.repeat(20) }, 'nodebalancer-prefix must be 19 characters or less'],
    [{ prefix: 'a b' }, 'use only letters, numbers, underscores, and dashes'],
    [{ defaultType: 'huge' }, 'default-nodebalancer-type must be one of common, premium, premium_40gb'],
    [{ backendSubnetId: 1, backendSubnetName: 'x' }, 'cannot have both --nodebalancer-backend-ipv4-subnet-id'],
    [{ backendSubnet: 'x' }, '--nodebalancer-backend-ipv4-subnet: not a range'],
    [{ loadBalancerType: 'metal' }, 'unsupported default load-balancer type metal'],
  ])('%j are refused', (given, words) => {
    expect(() => flagValuesOf(given)).toThrow(words);
  });
});

describe('the provider', () => {
  beforeEach(() => void vi.stubEnv('LINODE_API_TOKEN', undefined));
  afterEach(() => void vi.unstubAllEnvs());
  it('is loaded by its name, and checks its configuration', async () => {
    const dir = await folder();
    const configFile = join(dir, 'linode.yaml');
    const provider = 'linode';
    const load = () => loadCloudProvider({ provider, configFile, builtIn: {} }, { clock: hastyClock(), logger: silent });
    await writeFile(configFile, 'regions: [x]\n');
    await expect(load()).rejects.toThrow(ConfigError);
    await writeFile(configFile, 'region: us-ord\n');
    await expect(load()).rejects.toThrow('no credentials');
    await writeFile(configFile, 'region: us-ord\napiToken: x\n');
    const { name, cloud } = (await load()) ?? {};
    expect([name, cloud?.hasClusterId(), cloud?.routes]).toEqual(['linode', true, undefined]);
  });
});
