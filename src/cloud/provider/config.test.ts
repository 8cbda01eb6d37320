import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CloudProviderDefinition, loadCloudProvider } from '#cloud-provider';
import { systemClock } from '#host';
import { silentLogger } from '#utils';
import { localCloudProvider } from './index.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cloud-config-'));
  await writeFile(join(dir, 'token'), 'secret-token\n');
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const load = async (config: string) => {
  const configFile = join(dir, 'cloud.yaml');
  await writeFile(configFile, config);
  const builtIn = { local: () => Promise.resolve(localCloudProvider as CloudProviderDefinition) };
  return loadCloudProvider({ provider: 'local', configFile, builtIn }, { clock: systemClock(), logger: silentLogger });
};

it('is built from a file, with paths relative to it', async () => {
  const loaded = await load('url: https://127.0.0.1:1\ntokenFile: token\nclusterId: test\nvpcId: vpc-1\n');
  expect(loaded?.name).toBe('local');
  expect(Object.keys(loaded?.cloud ?? {})).toEqual(expect.arrayContaining(['instancesV2', 'routes', 'loadBalancer']));
});
it.each([
  ['url: ftp://x\nclusterId: test\nvpcId: v\n', 'url: must match'],
  ['url: https://x\nvpcId: v\n', 'clusterId: is required'],
  ['url: https://x\nclusterId: a b\nvpcId: v\n', 'clusterId: must match'],
  ['url: https://x\nclusterId: a\nvpcId: v\n', 'needs a token or a tokenFile'],
  ['url: https://x\nclusterId: a\nvpcId: v\ntokenFile: none\n', 'ENOENT'],
  ['url: https://x\nclusterId: a\nvpcId: v\ntoken: t\nkind: x\n', 'kind: is not known'],
])('refuses %j', async (config, message) => {
  await expect(load(config)).rejects.toThrow(message);
});
