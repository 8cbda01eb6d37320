// Azure's own library asks for tokens, here of a server on loopback in the place of Microsoft Entra ID and of the metadata service.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  manualClock,
  seededRng,
  startVendorServer,
  type VendorRequest,
  type VendorServer,
} from 'sagong/cloud-provider/test-server';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { defaultConfig } from '../../test-server/world.ts';
import { checkConfig } from '../config/config.ts';
import { type Env, findCredential } from './credentials.ts';

const tenantId = '99999999-aaaa-4bbb-8ccc-dddddddddddd';
const scope = 'https://management.azure.com/.default';
const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
const selfSigned = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', ...names];
const stdio = 'ignore';
let dir: string;
let server: VendorServer;
let metadata: VendorServer;
let ca: string;
const file = (name: string): string => join(dir, name);
const form = ({ body }: VendorRequest): Record<string, string> => body as Record<string, string>;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'azure-credentials-'));
  execFileSync('openssl', ['req', '-x509', ...selfSigned, '-keyout', file('key.pem'), '-out', file('cert.pem')], { stdio });
  ca = readFileSync(file('cert.pem'), 'utf8');
  writeFileSync(file('both.pem'), ca + readFileSync(file('key.pem'), 'utf8'));
  writeFileSync(file('cert.pfx'), Buffer.from([0x30, 0x82, 1, 2]));
  const refusalAnswer = () => ({ body: { error: 'invalid_request', error_description: 'AADSTS900021: not here' } });
  const token = { token_type: 'Bearer', expires_in: 3_599, access_token: 'of-entra' };
  server = await startVendorServer({
    rng: seededRng(1),
    tls: { key: readFileSync(file('key.pem'), 'utf8'), cert: ca },
    refusalAnswer,
    routes: {
      'GET /{tenant}/v2.0/.well-known/openid-configuration': ({ params }) => {
        const base = `${server.url}/${params['tenant']}`;
        return {
          body: {
            issuer: `${base}/v2.0`,
            authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
            token_endpoint: `${base}/oauth2/v2.0/token`,
            jwks_uri: `${base}/keys`,
          },
        };
      },
      'POST /{tenant}/oauth2/v2.0/token': () => ({ body: token }),
    },
  });
  metadata = await startVendorServer({
    rng: seededRng(1),
    refusalAnswer,
    routes: {
      'GET /metadata/identity/oauth2/token': () => ({
        body: {
          access_token: 'of-machine',
          expires_in: '3599',
          expires_on: String(Math.floor(Date.now() / 1000) + 3_599),
          resource: scope,
          token_type: 'Bearer',
        },
      }),
    },
  });
});
afterAll(async () => {
  await Promise.all([server.close(), metadata.close()]);
  rmSync(dir, { recursive: true });
});

const clock = manualClock();
const find = (more: Record<string, unknown>, env: Env = {}) =>
  findCredential({
    config: checkConfig({ ...defaultConfig, tenantId, ...more }),
    configDir: dir,
    authority: server.url,
    env,
    clock,
    ca,
  });
async function tokenOf(
  more: Record<string, unknown>,
  env: Env = {},
): Promise<[string, string | undefined, Record<string, string>]> {
  const { credential, from } = await find(more, env);
  const token = await credential.getToken(scope);
  return [from, token?.token, form(server.requests.at(-1) as VendorRequest) ?? {}];
}

it('are a client secret', async () => {
  const [from, token, asked] = await tokenOf({ aadClientId: 'app', aadClientSecret: 'secret' });
  expect([from, token]).toEqual(['aadClientSecret', 'of-entra']);
  expect(asked).toMatchObject({ client_id: 'app', client_secret: 'secret', grant_type: 'client_credentials' });
});
it('are a client certificate, as PEM, beside the configuration', async () => {
  const [from, token, asked] = await tokenOf({ aadClientId: 'app', aadClientCertPath: 'both.pem' });
  expect([from, token]).toEqual(['aadClientCertPath', 'of-entra']);
  expect(asked['client_assertion_type']).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
  await expect(find({ aadClientId: 'app', aadClientCertPath: 'cert.pfx' })).rejects.toThrow('is not PEM; openssl pkcs12');
});
it('are the client certificate that is in the file now', async () => {
  const certificateOf = (request: VendorRequest | undefined): string => {
    const [header = ''] = (form(request as VendorRequest)['client_assertion'] ?? '').split('.');
    return Buffer.from(header, 'base64url').toString('utf8');
  };
  const { credential } = await find({ aadClientId: 'app', aadClientCertPath: 'both.pem' });
  await credential.getToken(scope);
  const before = certificateOf(server.requests.at(-1));
  execFileSync('openssl', ['req', '-x509', ...selfSigned, '-keyout', file('new-key.pem'), '-out', file('new.pem')], { stdio });
  writeFileSync(file('both.pem'), readFileSync(file('new.pem'), 'utf8') + readFileSync(file('new-key.pem'), 'utf8'));
  await clock.advance(60_000);
  await credential.getToken(scope);
  const after = certificateOf(server.requests.at(-1));
  expect(before).toContain('"x5t');
  expect(after).toContain('"x5t');
  expect(after).not.toBe(before);
});
it('are a token of the cluster, without a secret anywhere', async () => {
  writeFileSync(file('token'), 'projected-token');
  const config = { aadClientId: 'app', useFederatedWorkloadIdentityExtension: true, aadFederatedTokenFile: 'token' };
  const [from, token, asked] = await tokenOf(config);
  expect([from, token]).toEqual(['useFederatedWorkloadIdentityExtension', 'of-entra']);
  expect(asked).toMatchObject({ client_assertion: 'projected-token' });
  const env = { AZURE_FEDERATED_TOKEN_FILE: file('token'), AZURE_CLIENT_ID: 'other-app' };
  expect((await tokenOf({}, env))[2]).toMatchObject({ client_id: 'other-app', client_assertion: 'projected-token' });
});
it('are the identity of the machine', async () => {
  vi.stubEnv('AZURE_POD_IDENTITY_AUTHORITY_HOST', metadata.url);
  const { credential } = await find({
    useManagedIdentityExtension: true,
    userAssignedIdentityID: '12345678-1111-4222-8333-444455556666',
  });
  const token = await credential.getToken(scope);
  vi.unstubAllEnvs();
  expect(token?.token).toBe('of-machine');
  const asked = metadata.requests.at(-1);
  expect(asked?.headers['metadata']).toBe('true');
  expect(asked?.url.searchParams.get('client_id')).toBe('12345678-1111-4222-8333-444455556666');
});
it('come from the environment where the configuration names none', async () => {
  const [from, , asked] = await tokenOf({}, { AZURE_CLIENT_ID: 'app', AZURE_CLIENT_SECRET: 'secret' });
  expect([from, asked['client_secret']]).toEqual(['AZURE_CLIENT_SECRET', 'secret']);
});
it('are needed, and what is wrong with them is said without showing them', async () => {
  await expect(find({})).rejects.toThrow(
    'no credentials; looked for in: useFederatedWorkloadIdentityExtension, useManagedIdentityExtension',
  );
  await expect(find({}, { AZURE_CLIENT_SECRET: 'secret' })).rejects.toThrow(
    'credentials from AZURE_CLIENT_SECRET: aadClientId: is required',
  );
  await expect(find({ useFederatedWorkloadIdentityExtension: true, aadFederatedTokenFile: 'nowhere' })).rejects.toThrow(
    'aadFederatedTokenFile',
  );
});
