import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hastyClock, seededRng, silentLogger } from 'sagong/cloud-provider/test-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { balancerSubnet, region, startTestServer, type TestServer } from '../../test-server/index.ts';
import type { Config } from '../config/schema.ts';
import { createProvider } from '../provider.ts';

let server: TestServer;
let folder: string;
const clock = hastyClock(Date.now());
beforeAll(async () => {
  server = await startTestServer({ clock, rng: seededRng(1) });
  server.account.addInstance('node-a');
  folder = await mkdtemp(join(tmpdir(), 'sagong-oci-'));
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = '/CN=instance/OU=opc-certtype:instance/OU=opc-tenant:ocid1.tenancy.oc1..tests';
  const names = ['-subj', subject, '-keyout', key, '-out', certificate];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...names], { stdio: 'ignore' });
  server.identity.instance = { certificate: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') };
  await writeFile(join(folder, 'token'), server.identity.workload.token);
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const sees = async (config: Config, env: Record<string, string> = {}): Promise<boolean | undefined> => {
  const whole = { endpoint: server.url, loadBalancer: { subnet1: balancerSubnet }, ...config };
  const cloud = await createProvider({ config: whole, configDir: folder, clock, logger: silentLogger }, env);
  return cloud.instancesV2?.instanceExists({ metadata: { name: 'node-a' }, spec: {} });
};
const metadata = () => ({ OCI_METADATA_BASE_URL: `${server.url}/opc/v2`, OCI_SDK_AUTH_CLIENT_REGION_URL: server.url });
const domain = () => ({
  OCI_WORKLOAD_IDENTITY_DOMAIN_URL: server.url,
  OCI_WORKLOAD_IDENTITY_RESOURCE_TYPE: 'ocid1.domain.oc1..tests',
  OCI_WORKLOAD_IDENTITY_TOKEN_PATH: join(folder, 'token'),
});
const client = { OCI_WORKLOAD_IDENTITY_CLIENT_ID: 'client', OCI_WORKLOAD_IDENTITY_CLIENT_SECRET: 'secret' };
const workload: Config = { useWorkloadIdentity: true, auth: { region }, compartment: 'ocid1.compartment.oc1..cluster' };

describe('credentials', () => {
  it('are those of the own instance, with its region and compartment', async () => {
    expect(await sees({ useInstancePrincipals: true }, metadata())).toBe(true);
  });
  it('are those of a workload, whose token is exchanged', async () => {
    expect(await sees(workload, { ...domain(), ...client })).toBe(true);
    const signed = server.requests.at(-1)?.headers['authorization'];
    expect(signed).toContain('keyId="ST$');
  });
  it('are those of a workload that its instance vouches for', async () => {
    const env = { ...domain(), ...metadata(), OCI_WORKLOAD_IDENTITY_USE_INSTANCE_PRINCIPAL_FOR_TOKEN_EXCHANGE: 'true' };
    expect(await sees(workload, env)).toBe(true);
  });
  it('of a workload say what is missing', async () => {
    await expect(sees(workload, {})).rejects.toThrow(
      'OCI_WORKLOAD_IDENTITY_DOMAIN_URL must be set when useWorkloadIdentity is true',
    );
    await expect(sees(workload, domain())).rejects.toThrow('OCI_WORKLOAD_IDENTITY_CLIENT_ID must be set');
    await expect(sees({ ...workload, auth: {} }, {})).rejects.toThrow('auth.region: is required');
    const wrong = { ...domain(), ...client, OCI_WORKLOAD_IDENTITY_CLIENT_SECRET: 'wrong' };
    await expect(sees(workload, wrong)).rejects.toThrow('401');
  });
  it('of a resource are looked for in the environment', async () => {
    await expect(sees({ ...workload, useWorkloadIdentity: false, useResourcePrincipals: true })).rejects.toThrow(
      'OCI_RESOURCE_PRINCIPAL_VERSION',
    );
  });
});
