// Encrypted values of ours read by upstream's apiserver from one etcd, and the other way round, with every cipher and a KMS plugin.
// Skipped unless SAGONG_UPSTREAM_BIN names a folder with upstream's programs (build.sh).
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEtcdStore } from '#store';
import { silentLogger } from '#utils';
import { startKmsPlugin, type TestPlugin } from '../../support/kms-plugin.ts';
import { versionOf } from '../etcd-cluster.ts';
import type { Api } from './api.ts';
import { hasUpstream, World } from './world.ts';

const canRun = hasUpstream('kube-apiserver') && versionOf('etcd') !== undefined;
const ciphers = ['aescbc', 'aesgcm', 'secretbox'] as const;
const secrets = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`;

describe.skipIf(!canRun)('encryption beside upstream (skipped without SAGONG_UPSTREAM_BIN and etcd)', () => {
  let folder: string;
  let world: World;
  let plugin: TestPlugin;
  let etcd: string;
  let ours: Api;
  let theirs: Api;
  const providers: Record<string, object> = {};

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'encryption-'));
    plugin = await startKmsPlugin(join(folder, 'kms.sock'));
    world = await World.create();
    etcd = await world.startEtcd();
    for (const cipher of ciphers)
      providers[cipher] = { [cipher]: { keys: [{ name: 'key1', secret: randomBytes(32).toString('base64') }] } };
    providers['kms'] = { kms: { apiVersion: 'v2', name: 'plugin', endpoint: `unix://${folder}/kms.sock`, timeout: '3s' } };
  });
  afterAll(async () => {
    await world.stop();
    await plugin.stop();
    await rm(folder, { recursive: true });
  });

  /** Both servers with one configuration, in which each names the providers in the order of `names`. */
  async function startBoth(names: readonly string[]): Promise<void> {
    const path = join(folder, `${names.join('-')}.yaml`);
    const resources = [{ resources: ['secrets'], providers: names.map((name) => providers[name]) }];
    await writeFile(
      path,
      JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources }),
    );
    const flag = `--encryption-provider-config=${path}`;
    ours = await world.startApiServer('sagong', etcd, [flag]);
    theirs = await world.startApiServer('upstream', etcd, [flag]);
  }

  it.each([['aescbc'], ['aesgcm'], ['secretbox'], ['kms']])('%s is read by both, whoever wrote it', async (name) => {
    await startBoth([name, ...Object.keys(providers).filter((other) => other !== name)]);
    const secret = (from: string) => ({ metadata: { name: `${name}-${from}` }, stringData: { from } });
    await ours.create(secrets('default'), secret('ours'));
    await theirs.create(secrets('default'), secret('theirs'));
    const store = await openEtcdStore({ endpoints: [etcd], logger: silentLogger });
    for (const from of ['ours', 'theirs']) {
      const { kvs } = await store.range({ key: `/registry/secrets/default/${name}-${from}` });
      expect(Buffer.from(kvs[0]?.value ?? []).toString('latin1')).toMatch(/^k8s:enc:\w+:v[12]:(key1|plugin):/);
      for (const api of [ours, theirs])
        expect((await api.get(`${secrets('default')}/${name}-${from}`))['data']).toEqual({
          from: Buffer.from(from).toString('base64'),
        });
    }
    await store.close();
    expect((await theirs.list(secrets('default'))).length).toBe((await ours.list(secrets('default'))).length);
  });
});
