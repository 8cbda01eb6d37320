// A workload of Kubernetes as a principal: its service account token is exchanged for a session token of OCI in an identity domain, which is bound to a
// key of our own (oci-cloud-controller-manager manifests/provider-config-workload-identity-example.yaml; RFC 8693).
import { type generateKeyPair as GenerateKeyPair, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { AuthenticationDetailsProvider, HttpRequest } from 'oci-common';
import type { Clock } from 'sagong/cloud-provider';
import { readSecretFile, sendHttp } from 'sagong/cloud-provider/kit';
import { createSigner } from '../api/signer.ts';
import type { Environment } from '../config/settings.ts';
import { sessionKeyBits, sessionTokenEarlyMs, tokenTimeoutMs } from '../limits.ts';

const makeKeyPair = promisify(generateKeyPair as typeof GenerateKeyPair);
const prefix = 'OCI_WORKLOAD_IDENTITY_';
const defaultTokenPath = '/var/run/secrets/kubernetes.io/serviceaccount/token';

interface Session {
  token: string;
  pem: string;
  untilMs: number;
}

/** When the token ends, in milliseconds since 1970; a token that does not say so is used once. */
function endOf(token: string): number {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1000 : 0;
  } catch {
    return 0;
  }
}

export interface WorkloadOptions {
  env: Environment;
  clock: Pick<Clock, 'now'>;
  /** Signs the exchange where no client ID is given. */
  instance(): Promise<AuthenticationDetailsProvider>;
}

/** Throws with the variable that is missing or wrong. */
export function workloadCredentials({ env, clock, instance }: WorkloadOptions): () => Promise<AuthenticationDetailsProvider> {
  const variable = (name: string): string => env[prefix + name]?.trim() ?? '';
  const needed = (name: string): string => {
    if (variable(name) === '') throw new Error(`${prefix}${name} must be set when useWorkloadIdentity is true`);
    return variable(name);
  };
  const domain = needed('DOMAIN_URL');
  if (!URL.canParse(domain)) throw new Error(`${prefix}DOMAIN_URL must be a valid URL when useWorkloadIdentity is true`);
  const resourceType = needed('RESOURCE_TYPE');
  const usesInstance = variable('USE_INSTANCE_PRINCIPAL_FOR_TOKEN_EXCHANGE').toLowerCase() === 'true';
  const [clientId, clientSecret] = usesInstance ? ['', ''] : [needed('CLIENT_ID'), needed('CLIENT_SECRET')];

  async function authorized(request: HttpRequest): Promise<void> {
    if (usesInstance) return createSigner(await instance()).sign(request);
    request.headers.set('authorization', `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`);
  }
  async function exchange(): Promise<Session> {
    const subject = await readSecretFile(variable('TOKEN_PATH') || defaultTokenPath, `${prefix}TOKEN_PATH`);
    const { publicKey, privateKey } = await makeKeyPair('rsa', { modulusLength: sessionKeyBits });
    const form = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: variable('REQUESTED_TOKEN_TYPE') || 'urn:oci:token-type:oci-rpst',
      subject_token_type: variable('SUBJECT_TOKEN_TYPE') || 'jwt',
      res_type: resourceType,
      ...(variable('RPST_EXP') && { rpst_exp: variable('RPST_EXP') }),
      public_key: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
      subject_token: subject,
    });
    const url = new URL('/oauth2/v1/token', domain).href;
    const body = form.toString();
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
    await authorized({ method: 'POST', uri: url, headers, body } as HttpRequest);
    // They are those of the transport.
    for (const name of ['host', 'content-length']) headers.delete(name);
    const signal = AbortSignal.timeout(tokenTimeoutMs);
    const { token } = (await sendHttp({ method: 'POST', url, body, headers: Object.fromEntries(headers), signal })).json<{
      token?: string;
    }>();
    if (!token) throw new Error(`${domain} has given no token`);
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    return { token, pem, untilMs: endOf(token) - sessionTokenEarlyMs };
  }

  let session: Session | undefined;
  let asked: Promise<Session> | undefined;
  async function current(): Promise<Session> {
    if (session && clock.now() < session.untilMs) return session;
    asked ??= exchange().finally(() => (asked = undefined));
    session = await asked;
    return session;
  }
  const provider: AuthenticationDetailsProvider = {
    getKeyId: async () => `ST$${(await current()).token}`,
    getPrivateKey: () => session?.pem ?? '',
    getPassphrase: () => null,
  };
  return () => Promise.resolve(provider);
}
