import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validateConfig } from 'sagong/cloud-provider';
import { hastyClock, silentLogger } from 'sagong/cloud-provider/test-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../test-server/index.ts';
import { configFor } from '../../test-server/world.ts';
import { seededRng } from 'sagong/cloud-provider/test-server';
import { createProvider } from '../provider.ts';
import { type Config, configSchema } from './schema.ts';
import { checkConfig, settingsOf } from './settings.ts';

let server: TestServer;
let folder: string;
const clock = hastyClock();
beforeAll(async () => {
  server = await startTestServer({ clock, rng: seededRng(1) });
  folder = await mkdtemp(join(tmpdir(), 'sagong-oci-'));
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const ocid = 'ocid1.x.oc1..a';
const key = { tenancy: ocid, user: ocid, key: 'PEM', fingerprint: Array(16).fill('ab').join(':'), region: 'us-phoenix-1' };
const good = { auth: key, compartment: ocid, vcn: ocid, loadBalancer: { subnet1: ocid } };
const checked = (value: unknown): void => checkConfig(validateConfig('oci', configSchema, value) as Config);
const open = (config: Config, env: Record<string, string> = {}) =>
  createProvider({ config, configDir: folder, clock, logger: silentLogger }, env);
const node = (name: string) => ({ metadata: { name }, spec: {} });

describe('a configuration', () => {
  it('is upstream’s', async () => {
    checked(good);
    const settings = await settingsOf(good, {}, () => Promise.resolve({}));
    expect(settings).toMatchObject({
      credentials: 'key',
      region: 'us-phoenix-1',
      loadBalancer: { mode: 'All', subnet1: ocid, securityLists: {} },
      rates: { readPerSecond: 20, readBurst: 5, writePerSecond: 20, writeBurst: 5 },
    });
  });
  it.each<[object, string]>([
    [{ ...good, subnet: ocid }, 'subnet: is not known'],
    [{ ...good, auth: { ...key, users: ocid } }, 'auth.users: is not known'],
    [{ ...good, auth: { ...key, key: undefined } }, 'auth.key: is required'],
    [{ ...good, auth: { ...key, fingerprint: 'ab:cd' } }, 'auth.fingerprint: must match'],
    [{ ...good, auth: { ...key, passphrase: 'a', key_passphrase: 'b' } }, 'auth.key_passphrase: contradicts auth.passphrase'],
    [{ ...good, auth: { ...key, profile: 'PROD' } }, 'auth.profile: contradicts the other credentials'],
    [{ ...good, useInstancePrincipals: true, useWorkloadIdentity: true }, 'cannot both be true'],
    [{ ...good, auth: { ...key, compartment: 'ocid1.other' } }, 'auth.compartment: contradicts compartment'],
    [{ ...good, vcn: undefined, loadBalancer: {} }, 'vcn: is required where loadBalancer.subnet1 is not given'],
    [{ ...good, loadBalancer: { subnet1: 'sub' } }, 'loadBalancer.subnet1: must match'],
    [
      { ...good, loadBalancer: { subnet1: ocid, securityListManagementMode: 'Some' } },
      'loadBalancer.securityListManagementMode: must be one of',
    ],
    [
      { ...good, loadBalancer: { subnet1: ocid, securityListManagementMode: 'All', disableSecurityListManagement: true } },
      'loadBalancer.disableSecurityListManagement: contradicts',
    ],
    [
      { ...good, loadBalancer: { subnet1: ocid, securityLists: { [ocid]: 7 } } },
      `loadBalancer.securityLists.${ocid}: must be a string`,
    ],
    [{ ...good, rateLimiter: { rateLimitQPSRead: 0 } }, 'rateLimiter.rateLimitQPSRead: must be at least'],
    [{ ...good, tags: { loadBalancer: { freeform: { a: 1 } } } }, 'tags.loadBalancer.freeform.a: must be a string'],
    [{ ...good, endpoint: 'ftp://x' }, 'endpoint: must match'],
  ])('that says %j is refused by field', (value, message) => {
    expect(() => checked(JSON.parse(JSON.stringify(value)))).toThrow(message);
  });
  it('without region or compartment takes those of the own instance, and says what it misses where there is none', async () => {
    const own = { region: 'eu-frankfurt-1', compartment: 'ocid1.compartment.own' };
    const bare: Config = { useInstancePrincipals: true };
    expect(await settingsOf(bare, {}, () => Promise.resolve(own))).toMatchObject(own);
    await expect(settingsOf(bare, {}, () => Promise.resolve({}))).rejects.toThrow(
      'auth.region: is required, as it cannot be found out',
    );
  });
  it('can go without load balancers, and has no routes', async () => {
    const cloud = await open({ ...configFor(server), loadBalancer: { disabled: true } });
    expect(cloud.loadBalancer).toBeUndefined();
    expect(cloud.routes).toBeUndefined();
  });
});

describe('credentials', () => {
  it('are a user’s key, whose signature the API checks', async () => {
    server.account.addInstance('node-a');
    expect(await (await open(configFor(server))).instancesV2?.instanceExists(node('node-a'))).toBe(true);
    const stranger = { ...configFor(server), auth: { ...configFor(server).auth, fingerprint: key.fingerprint } };
    await expect((await open(stranger)).instancesV2?.instanceExists(node('node-a'))).rejects.toThrow('401 NotAuthenticated');
  });
  it('whose key is none are refused at the start, without a part of it', async () => {
    const error = await open({ ...good, auth: { ...key, key: 'my-secret' } }).catch(String);
    expect(error).toContain('auth.key: is not a private key in PEM, or its passphrase is another one');
    expect(error).not.toContain('my-secret');
  });
  it('are a profile of the CLI’s file', async () => {
    const { auth: _auth, ...config } = configFor(server);
    const { user, tenancy, fingerprint, key: pem } = server.user;
    await writeFile(join(folder, 'key.pem'), pem);
    const lines = [
      `user=${user}`,
      `tenancy=${tenancy}`,
      `fingerprint=${fingerprint}`,
      `key_file=${join(folder, 'key.pem')}`,
      'region=us-phoenix-1',
    ];
    await writeFile(join(folder, 'config'), ['[DEFAULT]', '[PROD]', ...lines].join('\n'));
    const cloud = await open({ ...config, auth: { configFile: 'config', profile: 'PROD' } });
    expect(await cloud.instancesV2?.instanceExists(node('node-a'))).toBe(true);
    // The key is replaced: what is signed with the old one is refused from then on.
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await writeFile(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    clock.skip(60_000);
    await expect(cloud.instancesV2?.instanceExists(node('node-a'))).rejects.toThrow('401 NotAuthenticated');
    await writeFile(join(folder, 'key.pem'), `${pem}\n`);
    clock.skip(60_000);
    expect(await cloud.instancesV2?.instanceExists(node('node-a'))).toBe(true);
    const missing = { ...config, auth: { configFile: 'config', profile: 'TEST' } };
    await expect(open(missing)).rejects.toThrow(/profile TEST of .*config cannot be used/);
  });
});
