// The key of a service account, and the tokens that are made with it: JSON Web Tokens that the account signs itself
// (https://developers.google.com/identity/protocols/oauth2/service-account#jwt-auth), as Google's libraries make them for credentials of another universe than
// Google's own. So no server of Google's is asked for tokens.
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { Refusal } from 'sagong/cloud-provider/test-server';
import { keyBits, lifetimeSecondsMax, skewSeconds } from './limits.ts';

const account = 'sagong@local-cloud.iam.gserviceaccount.com';
const scope = 'https://www.googleapis.com/auth/cloud-platform';
export const project = 'local-cloud';

/** Makes a private key, as PEM. */
export const newKey = (): string =>
  generateKeyPairSync('rsa', { modulusLength: keyBits }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const keyId = (key: KeyObject): string =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex');

/** The content of the file that GOOGLE_APPLICATION_CREDENTIALS names. */
export const keyFile = (pem: string, url: string): string =>
  JSON.stringify(
    {
      type: 'service_account',
      project_id: project,
      private_key_id: keyId(createPublicKey(pem)),
      private_key: `${pem}\n`,
      client_email: account,
      client_id: '1',
      token_uri: `${url}/token`,
      universe_domain: 'local-cloud.invalid',
    },
    null,
    2,
  );

const denied = (): Refusal =>
  new Refusal(401, 'authError', 'Request had invalid authentication credentials. Expected OAuth 2 access token.');

const read = (part: string): Record<string, unknown> => {
  try {
    const value = JSON.parse(Buffer.from(part, 'base64url').toString()) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/** A function that throws for a header `Authorization` that the account has not signed, or that is not for now. */
export function createGate(pem: string, now: () => number): (authorization: string | undefined) => void {
  const key = createPublicKey(pem);
  const id = keyId(key);
  return (authorization = '') => {
    const [, head = '', claims = '', signature = '', more] =
      /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)(.*)$/.exec(authorization) ?? [];
    const { alg, kid } = read(head);
    if (more !== '' || alg !== 'RS256' || kid !== id) throw denied();
    if (!verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))) throw denied();
    const { iss, iat, exp, scope: scopes } = read(claims);
    const seconds = now() / 1_000;
    if (iss !== account || !String(scopes).split(' ').includes(scope)) throw denied();
    const [from, to] = [Number(iat), Number(exp)];
    if (!(from <= seconds + skewSeconds && to > seconds && to - from <= lifetimeSecondsMax)) throw denied();
  };
}
