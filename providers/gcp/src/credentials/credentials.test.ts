// Google's own library against the local server: each way in which its users have credentials.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hastyClock, seededRng } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startTestServer, type TestServer, zones } from '../../test-server/index.ts';
import { createMetadata } from './metadata.ts';
import { alternateTokens, defaultTokens } from './tokens.ts';

let server: TestServer;
let dir: string;
const clock = hastyClock();
beforeEach(async () => {
  server = await startTestServer({ clock, rng: seededRng(1) });
  dir = await mkdtemp(join(tmpdir(), 'gce-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(dir, { recursive: true });
  await server.close();
});
const credentials = async (content: object): Promise<void> => {
  const path = join(dir, 'credentials.json');
  await writeFile(path, JSON.stringify(content));
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', path);
};
const federation = (more: object = {}): object => ({
  type: 'external_account',
  audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/cluster',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  token_url: `${server.url}/sts/v1/token`,
  credential_source: { file: join(dir, 'projected-token') },
  ...more,
});

describe('credentials', () => {
  it('are a key of a service account, which signs its own tokens', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
    await credentials({
      type: 'service_account',
      project_id: 'p',
      client_email: 'ccm@p.example.com',
      private_key_id: 'k1',
      private_key: key,
      universe_domain: 'example.goog',
    });
    const tokens = defaultTokens();
    const { authorization = '' } = await tokens.headers('https://compute.example.goog/compute/v1/projects/p');
    const [, payload = ''] = authorization.replace('Bearer ', '').split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({
      iss: 'ccm@p.example.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    });
    expect(await tokens.universe()).toBe('example.goog');
  });
  it('are a workload identity federation, whose token is exchanged', async () => {
    await credentials(federation());
    await writeFile(join(dir, 'projected-token'), 'projected-token');
    expect(await defaultTokens().headers(server.endpoint)).toMatchObject({ authorization: `Bearer ${server.token}` });
  });
  it('that are mounted late, or are refused, are looked for again', async () => {
    await credentials(federation());
    const tokens = defaultTokens();
    await expect(tokens.headers(server.endpoint)).rejects.toThrow();
    await writeFile(join(dir, 'projected-token'), 'projected-token');
    expect(await tokens.headers(server.endpoint)).toMatchObject({ authorization: `Bearer ${server.token}` });
    const before = server.requests.length;
    await tokens.headers(server.endpoint);
    expect(server.requests.length).toBe(before);
    tokens.refused();
    await tokens.headers(server.endpoint);
    expect(server.requests.length).toBeGreaterThan(before);
  });
  it('are those of the instance, by its metadata service', async () => {
    vi.stubEnv('HOME', dir);
    vi.stubEnv('GCE_METADATA_HOST', server.url.replace('http://', ''));
    const metadata = createMetadata(clock, process.env);
    expect([await metadata.project(), await metadata.zone(), await metadata.network()]).toEqual([
      'test-project',
      zones[0],
      'default',
    ]);
    expect(await defaultTokens().headers(server.endpoint)).toMatchObject({ authorization: `Bearer ${server.token}` });
  });
});

describe('token-url', () => {
  const counted: Record<string, number> = {};
  const metrics = {
    counter: ({ name }: { name: string }) => ({ inc: () => void (counted[name] = (counted[name] ?? 0) + 1) }),
    histogram: () => ({ observe() {} }),
  };
  const own = () => ({ headers: () => Promise.resolve({ authorization: `Bearer ${server.token}` }), refused() {} });
  const open = (body: string) => alternateTokens({ url: `${server.url}/alternate/token`, body, own: own(), clock, metrics });
  it('gives a token, asked for once until shortly before its end', async () => {
    const tokens = open('{"for":"me"}');
    const answers = await Promise.all([tokens.headers(''), tokens.headers('')]);
    expect(answers).toEqual([0, 1].map(() => ({ authorization: `Bearer ${server.token}` })));
    await tokens.headers('');
    expect(counted).toEqual({ get_token_count: 1 });
    clock.skip(3_550_000);
    await tokens.headers('');
    expect(counted).toEqual({ get_token_count: 2 });
  });
  it('that refuses is counted, and told by its name', async () => {
    await expect(open('{}').headers('')).rejects.toThrow('token-url: POST');
    expect(counted['get_token_fail_count']).toBe(1);
  });
});
