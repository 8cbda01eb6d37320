import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadCloudProvider, validateConfig } from 'sagong/cloud-provider';
import { hastyClock, silentLogger } from 'sagong/cloud-provider/test-server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Config, configSchema } from './schema.ts';
import { credentialsFrom, settingsFrom } from './settings.ts';

const folder = async (): Promise<string> => {
  const dir = await mkdtemp(join(tmpdir(), 'baidu-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
};
const read = (value: unknown): Config => validateConfig('cce', configSchema, value) as Config;
const whole = {
  ClusterId: 'c-NqYwWEhu',
  ClusterName: 'shop',
  AccessKeyID: 'key',
  SecretAccessKey: 'secret',
  Region: 'gz',
  VpcId: 'vpc-1',
  SubnetId: 'sbn-1',
  MasterId: 'i-1',
  Endpoint: 'cce.gz.baidubce.com',
  NodeName: '',
  Debug: true,
};

describe('settings', () => {
  it('are those of the vendor’s file', () => {
    expect(settingsFrom(read(whole), {})).toEqual({
      clusterId: 'c-NqYwWEhu',
      region: 'gz',
      endpoints: {
        blb: 'https://blb.gz.baidubce.com',
        eip: 'https://eip.gz.baidubce.com',
        vpc: 'https://vpc.gz.baidubce.com',
        bcc: 'https://bcc.gz.baidubce.com',
      },
      vpcId: 'vpc-1',
      subnetId: 'sbn-1',
      masterId: 'i-1',
    });
    const own = settingsFrom(read({ ClusterId: 'c', VpcId: 'v', Endpoints: { blb: 'http://127.0.0.1:9/' } }), {
      BAIDUCLOUD_REGION: 'su',
    });
    expect([own.region, own.endpoints.blb, own.endpoints.eip]).toEqual([
      'su',
      'http://127.0.0.1:9',
      'https://eip.su.baidubce.com',
    ]);
  });
  it.each([
    [{}, 'ClusterId'],
    [{ ClusterId: 'a/b' }, 'ClusterId'],
    [{ ...whole, Region: 'BJ!' }, 'Region'],
    [{ ...whole, clusterId: 'c' }, 'clusterId'],
    [{ ...whole, Endpoints: { cce: 'https://x' } }, 'Endpoints.cce'],
    [{ ...whole, Endpoints: { blb: 'ftp://x' } }, 'Endpoints.blb'],
    [{ ...whole, Debug: 'yes' }, 'Debug'],
  ])('that say %j are refused by name', (value, field) => {
    expect(() => read(value)).toThrow(ConfigError);
    expect(() => read(value)).toThrow(field);
  });
  it('without a VPC, or with a region that is none, are refused by name', () => {
    expect(() => settingsFrom(read({ ClusterId: 'c' }), {})).toThrow('VpcId is needed, or MasterId');
    expect(() => settingsFrom(read(whole), { BAIDUCLOUD_REGION: 'x/y' })).toThrow('BAIDUCLOUD_REGION: "x/y" is not a region');
  });
});

describe('credentials', () => {
  const clock = hastyClock();
  const from = (config: Partial<Config>, env = {}, configDir = '/') =>
    credentialsFrom({ config: { ClusterId: 'c', ...config }, configDir, env, clock });
  it('come from the environment, which wins over the configuration', async () => {
    const env = { BAIDUCLOUD_ACCESS_KEY: 'k', BAIDUCLOUD_SECRET_KEY: 's', BAIDUCLOUD_SESSION_TOKEN: 't' };
    const found = await from({ AccessKeyID: 'other', SecretAccessKey: 'other' }, env);
    expect(await found.credentials()).toEqual({ accessKeyId: 'k', secretAccessKey: 's', sessionToken: 't' });
    const inFile = await from({ AccessKeyID: 'key', SecretAccessKey: 'secret' });
    expect(await inFile.credentials()).toEqual({ accessKeyId: 'key', secretAccessKey: 'secret' });
  });
  it('come from a file as STS gives them, which is read again when it is replaced', async () => {
    const dir = await folder();
    const path = join(dir, 'sts.json');
    await writeFile(path, JSON.stringify({ accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c', userId: 'u' }));
    const { credentials, from: where } = await from({ CredentialsFile: 'sts.json' }, { BAIDUCLOUD_ACCESS_KEY: 'x' }, dir);
    expect([where, await credentials()]).toEqual([
      `the file ${path}`,
      { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c' },
    ]);
    await writeFile(path, JSON.stringify({ accessKeyId: 'a2', secretAccessKey: 'b', sessionToken: 'longer' }));
    clock.skip(60_000);
    expect(await credentials()).toMatchObject({ accessKeyId: 'a2', sessionToken: 'longer' });
  });
  it.each([
    [{}, {}, 'no credentials; looked for in'],
    [{ AccessKeyID: 'key' }, {}, 'the secret access key is missing'],
    [{}, { BAIDUCLOUD_SECRET_KEY: 's' }, 'the access key ID is missing'],
    [{ AccessKeyID: 'k e', SecretAccessKey: 's' }, {}, 'they have characters that no key has'],
    [{ AccessKeyID: 'k/e', SecretAccessKey: 's' }, {}, 'the access key ID has a slash'],
    [{ CredentialsFile: 'nowhere.json' }, {}, 'CredentialsFile: /nowhere.json cannot be read'],
  ])('of %j and %j are refused: %s', async (config, env, expected) => {
    await expect(from(config, env)).rejects.toThrow(expected);
  });
  it('in a file that is no such file are refused without a word of what is in it', async () => {
    const dir = await folder();
    for (const text of ['secret!', '[]', '{"accessKeyId":"secret!"}', '{"accessKeyId":1,"secretAccessKey":"secret!"}']) {
      await writeFile(join(dir, 'keys.json'), text);
      const error = await from({ CredentialsFile: 'keys.json' }, {}, dir).catch((one: unknown) => one as Error);
      expect(String(error)).toContain('keys.json');
      expect(String(error)).not.toContain('secret!');
    }
  });
});

it('the provider is loaded by its name', async () => {
  vi.stubEnv('BAIDUCLOUD_ACCESS_KEY', 'key');
  vi.stubEnv('BAIDUCLOUD_SECRET_KEY', 'secret');
  onTestFinished(() => void vi.unstubAllEnvs());
  const dir = await folder();
  await writeFile(join(dir, 'cloud.config'), JSON.stringify({ ClusterId: 'c-1', VpcId: 'vpc-1' }));
  const provider = 'cce';
  const configFile = join(dir, 'cloud.config');
  const options = { provider, configFile, builtIn: {} };
  const { name, cloud } = (await loadCloudProvider(options, { clock: hastyClock(), logger: silentLogger })) ?? {};
  expect([name, cloud?.hasClusterId(), cloud?.loadBalancer !== undefined, cloud?.routes !== undefined]).toEqual([
    'cce',
    true,
    true,
    true,
  ]);
});
