// Who the provider is to Azure: Azure's own library asks for tokens. The configuration decides in upstream's order (federated token, managed identity,
// secret, certificate); without one of them the environment does, as it does for all of Azure's tools.
import { readFile } from 'node:fs/promises';
import {
  ClientCertificateCredential,
  type ClientCertificateCredentialOptions,
  ClientSecretCredential,
  ManagedIdentityCredential,
  type TokenCredential,
  WorkloadIdentityCredential,
} from '@azure/identity';
import type { Clock } from 'sagong/cloud-provider';
import { configPath, type CredentialSource, firstCredentials, fromFiles, readSecretFile } from 'sagong/cloud-provider/kit';
import type { AzureConfig } from '../config/schema.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export interface CredentialDeps {
  config: AzureConfig;
  configDir: string;
  /** `https://login.microsoftonline.com`; AZURE_AUTHORITY_HOST of the environment wins. */
  authority: string;
  env: Env;
  clock: Pick<Clock, 'monotonic'>;
  /** PEM of an authority that is trusted in addition, for tests. */
  ca?: string;
}

/** What upstream takes for «no secret, but a managed identity». */
const noSecret = 'msi';

interface Parts {
  tenant?: string | undefined;
  client?: string | undefined;
  secret?: string | undefined;
  certificate?: string | undefined;
  password?: string | undefined;
  tokenFile?: string | undefined;
}

const needed = (value: string | undefined, field: string): string => {
  if (!value) throw new Error(`${field}: is required`);
  return value;
};

/** A certificate with its key, both as PEM in one file. Says what is wrong with the file, and never what is in it. */
async function pemFile(path: string): Promise<string> {
  const bytes = await readFile(path).catch(() => undefined);
  // DER, of which PKCS#12 is written, begins with the tag of a sequence.
  if (bytes?.[0] === 0x30)
    throw new Error(`aadClientCertPath: ${path} is not PEM; openssl pkcs12 -in ${path} -out cert.pem -nodes makes it so`);
  return readSecretFile(path, 'aadClientCertPath');
}

interface CertificateContext extends Pick<CredentialDeps, 'configDir' | 'clock'> {
  options: ClientCertificateCredentialOptions;
}

/** The credential by the certificate that is in the file at the moment. */
async function certificateCredential(
  { tenant, client, certificate, password }: Parts,
  { configDir, clock, options }: CertificateContext,
): Promise<TokenCredential> {
  const [tenantId, clientId] = [needed(tenant, 'tenantId'), needed(client, 'aadClientId')];
  const path = configPath(needed(certificate, 'aadClientCertPath'), configDir);
  const make = async () => {
    const pem = { certificate: await pemFile(path), ...(password && { certificatePassword: password }) };
    return new ClientCertificateCredential(tenantId, clientId, pem, options);
  };
  const current = fromFiles({ paths: () => [path], what: 'aadClientCertPath', clock, make });
  await current();
  return { getToken: async (scopes, more) => (await current()).getToken(scopes, more) };
}

const when = <T>(is: unknown, make: () => T): T | undefined => (is ? make() : undefined);

function sources({ config, configDir, authority, env, clock, ca }: CredentialDeps): CredentialSource<TokenCredential>[] {
  const authorityHost = env['AZURE_AUTHORITY_HOST'] || authority;
  const options = {
    authorityHost,
    retryOptions: { maxRetries: 3 },
    ...(ca && { tlsOptions: { ca }, disableInstanceDiscovery: true }),
  };
  const given: Parts = {
    tenant: config.tenantId || env['AZURE_TENANT_ID'],
    client: config.aadClientId || env['AZURE_CLIENT_ID'],
    secret: config.aadClientSecret,
    certificate: config.aadClientCertPath,
    password: config.aadClientCertPassword,
    tokenFile: config.aadFederatedTokenFile || env['AZURE_FEDERATED_TOKEN_FILE'],
  };
  const secret = ({ tenant, client, secret: text }: Parts): TokenCredential =>
    new ClientSecretCredential(
      needed(tenant, 'tenantId'),
      needed(client, 'aadClientId'),
      needed(text, 'aadClientSecret'),
      options,
    );
  const certificate = (parts: Parts): Promise<TokenCredential> => certificateCredential(parts, { configDir, clock, options });
  const federated = async ({ tenant, client, tokenFile }: Parts): Promise<TokenCredential> => {
    const path = configPath(needed(tokenFile, 'aadFederatedTokenFile'), configDir);
    await readSecretFile(path, 'aadFederatedTokenFile');
    return new WorkloadIdentityCredential({
      ...options,
      tenantId: needed(tenant, 'tenantId'),
      clientId: needed(client, 'aadClientId'),
      tokenFilePath: path,
    });
  };
  const managed = (identity: string | undefined): TokenCredential => {
    if (!identity) return new ManagedIdentityCredential();
    return identity.startsWith('/')
      ? new ManagedIdentityCredential({ resourceId: identity })
      : new ManagedIdentityCredential({ clientId: identity });
  };
  const inEnvironment: Parts = {
    ...given,
    secret: env['AZURE_CLIENT_SECRET'],
    certificate: env['AZURE_CLIENT_CERTIFICATE_PATH'],
    password: env['AZURE_CLIENT_CERTIFICATE_PASSWORD'],
  };
  return [
    {
      name: 'useFederatedWorkloadIdentityExtension',
      find: () => when(config.useFederatedWorkloadIdentityExtension, () => federated(given)),
    },
    {
      name: 'useManagedIdentityExtension',
      find: () => when(config.useManagedIdentityExtension, () => managed(config.userAssignedIdentityID)),
    },
    { name: 'aadClientSecret', find: () => when(given.secret && given.secret !== noSecret, () => secret(given)) },
    { name: 'aadClientCertPath', find: () => when(given.certificate, () => certificate(given)) },
    { name: 'AZURE_CLIENT_SECRET', find: () => when(inEnvironment.secret, () => secret(inEnvironment)) },
    { name: 'AZURE_CLIENT_CERTIFICATE_PATH', find: () => when(inEnvironment.certificate, () => certificate(inEnvironment)) },
    { name: 'AZURE_FEDERATED_TOKEN_FILE', find: () => when(env['AZURE_FEDERATED_TOKEN_FILE'], () => federated(given)) },
  ];
}

/** Rejects with «no credentials» and the places that were looked at. Asks for no token yet. */
export async function findCredential(deps: CredentialDeps): Promise<{ credential: TokenCredential; from: string }> {
  const { credentials, from } = await firstCredentials(sources(deps));
  return { credential: credentials, from };
}
