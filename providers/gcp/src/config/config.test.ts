import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadCloudProvider, validateConfig } from 'sagong/cloud-provider';
import { hastyClock, seededRng } from 'sagong/cloud-provider/test-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startTestServer } from '../../test-server/index.ts';
import { silent } from '../../test-server/world.ts';
import { createComputeApi } from '../api/compute.ts';
import { endpointOf, settingsOf } from '../settings.ts';
import { parseConfig } from './config.ts';
import { flags, flagValuesOf } from './flags.ts';
import { type GceConfig, globalSchema } from './schema.ts';

const read = (text: string): GceConfig => validateConfig('gce', globalSchema, parseConfig(text)) as GceConfig;

describe('gce.conf', () => {
  it('is read as gcfg reads it', () => {
    const text =
      '; made by a tool\n[Global]\nproject-id = p\nNode-Tags = a\nnode-tags = "b"\nmultizone\nregional = no\ntoken-url = nil\n';
    expect(read(text)).toMatchObject({
      'project-id': 'p',
      'node-tags': ['a', 'b'],
      multizone: true,
      regional: false,
      'token-url': 'nil',
    });
    expect(read('')).toMatchObject({ 'node-tags': [], multizone: false, 'alpha-features': [] });
  });
  it.each([
    ['[global]\nproject = x', 'project: is not known; known are token-url'],
    ['[global]\nmultizone = perhaps', 'multizone: must be a boolean'],
    ['[global]\nlocal-zone = Berlin', 'local-zone: must match'],
    ['[global]\napi-endpoint = compute.googleapis.com', 'api-endpoint: must match'],
    ['[global]\nalpha-features = NetworkTiers', 'must be one of ILBSubsets, SkipIGsManagement'],
    ['[global]\nstack-type = IPv4', 'stack-type: must be one of'],
    ['[local]\nproject-id = x', 'line 1: section [local] is not known'],
    ['[global "x"]', 'line 1: [global] takes no name'],
  ])('that says %j is refused by name', (text, words) => {
    expect(() => read(text)).toThrow(words);
  });
  it('is loaded by the name of the provider', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'gce-'));
    onTestFinished(() => rm(dir, { recursive: true }));
    const configFile = join(dir, 'gce.conf');
    await writeFile(configFile, '[global]\nproject = x\n');
    const provider = 'gce';
    const loading = loadCloudProvider({ provider, configFile, builtIn: {} }, { clock: hastyClock(), logger: silent });
    await expect(loading).rejects.toThrow(ConfigError);
    await writeFile(
      configFile,
      '[global]\nproject-id = p\nlocal-zone = a-b\nnetwork-name = n\napi-endpoint = http://127.0.0.1:9/\n',
    );
    const { name, cloud } =
      (await loadCloudProvider({ provider, configFile, builtIn: {} }, { clock: hastyClock(), logger: silent })) ?? {};
    expect([name, cloud?.hasClusterId()]).toEqual(['gce', true]);
  });
});

describe('where the cluster lives', () => {
  const open = async (text: string) => {
    const clock = hastyClock();
    const server = await startTestServer({ clock, rng: seededRng(1) });
    onTestFinished(() => server.close());
    const config = read(text);
    const tokens = { headers: () => Promise.resolve({ authorization: `Bearer ${server.token}` }), refused() {} };
    const api = createComputeApi({ endpoint: server.endpoint, tokens, clock });
    const asked: string[] = [];
    const metadata = {
      project: async () => (asked.push('project'), 'own-project'),
      zone: async () => (asked.push('zone'), 'us-central1-a'),
      network: async () => (asked.push('network'), 'own-network'),
    };
    return { settings: await settingsOf(config, api, metadata), asked, server };
  };
  it('comes from the own instance where the configuration does not say', async () => {
    const { settings, asked, server } = await open('');
    expect(settings).toMatchObject({
      project: 'own-project',
      networkProject: 'own-project',
      zone: 'us-central1-a',
      region: 'us-central1',
      subnetwork: '',
    });
    expect(settings.network).toBe(`${server.endpoint}projects/own-project/global/networks/own-network`);
    expect(asked).toEqual(['project', 'zone', 'network']);
  });
  it('is not asked for where the configuration says all', async () => {
    const { settings, asked } = await open(
      '[global]\nproject-id = p\nnetwork-project-id = host\nlocal-zone = a-b-c\nnetwork-name = https://x/projects/host/global/networks/n\nsubnetwork-name = s\n',
    );
    expect(asked).toEqual([]);
    expect(settings).toMatchObject({
      networkProject: 'host',
      region: 'a-b',
      network: 'https://x/projects/host/global/networks/n',
    });
    expect(settings.subnetwork).toMatch(/projects\/host\/regions\/a-b\/subnetworks\/s$/);
  });
  it('may be a project by its number', async () => {
    const clock = hastyClock();
    const server = await startTestServer({ clock, rng: seededRng(1) });
    onTestFinished(() => server.close());
    server.projects.put('projects/42', 'project', { name: 'the-answer' });
    const tokens = { headers: () => Promise.resolve({ authorization: `Bearer ${server.token}` }), refused() {} };
    const api = createComputeApi({ endpoint: server.endpoint, tokens, clock });
    const none = (): Promise<never> => Promise.reject(new Error('not asked'));
    const config = read('[global]\nproject-id = 42\nlocal-zone = a-b\nnetwork-name = n\n');
    expect(await settingsOf(config, api, { project: none, zone: none, network: none })).toMatchObject({
      project: 'the-answer',
      networkProject: 'the-answer',
    });
  });
  it('has the API of its universe', () => {
    expect(endpointOf(read(''), 'googleapis.com')).toBe('https://compute.googleapis.com/compute/v1/');
    expect(endpointOf(read(''), 'example.goog')).toBe('https://compute.example.goog/compute/v1/');
  });
});

it('flags have upstream’s names, and are checked', () => {
  expect(Object.values(flags).map(({ name }) => name)).toContain('cloud-provider-gce-lb-src-cidrs');
  expect(flagValuesOf(undefined)).toMatchObject({
    multiProject: false,
    lbSourceRanges: expect.arrayContaining(['35.191.0.0/16']),
  });
  expect(() => flagValuesOf({ lbSourceRanges: ['nowhere'] })).toThrow('not a range: "nowhere"');
});
