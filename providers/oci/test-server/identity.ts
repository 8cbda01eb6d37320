// Session tokens: for instances, which show the certificate that the metadata service gives them
// (https://docs.oracle.com/iaas/Content/Identity/Tasks/callingservicesfrominstances.htm), and for workloads, whose token is exchanged in an identity domain.
import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { Refusal, type Routes, type VendorRequest } from 'sagong/cloud-provider/test-server';
import { compartment, region } from '../src/emulator/account.ts';
import { notAuthenticated } from '../src/emulator/refusals.ts';
import { checkSignature } from '../src/emulator/signature.ts';

export interface InstanceIdentity {
  /** PEM. */
  certificate: string;
  key: string;
}
export interface Identity {
  routes: Routes;
  /** Requests that carry no signature, or one that is checked elsewhere. */
  isOpen(request: VendorRequest): boolean;
  /** What the metadata service gives. Undefined: there is none. */
  instance?: InstanceIdentity;
  /** Service account tokens that are taken, and the client that may exchange them. */
  workload: { token: string; clientId: string; clientSecret: string };
}

const hourSeconds = 3_600;
const metadataHeader = 'Bearer Oracle';

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Makes the identity service, which adds the keys of sessions to `keys`. */
export function createIdentity(keys: Map<string, KeyObject>): Identity {
  function sessionFor(spki: string, sub: string): object {
    const exp = Math.floor(Date.now() / 1000) + hourSeconds;
    const n = createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' });
    const token = `${encoded({ alg: 'RS256' })}.${encoded({ sub, exp, iat: exp - hourSeconds, jwk: JSON.stringify(n.export({ format: 'jwk' })) })}.x`;
    keys.set(`ST$${token}`, n);
    return { token };
  }
  const metadata = (text: () => unknown) => (request: VendorRequest) => {
    if (request.headers['authorization'] !== metadataHeader || !identity.instance) throw new Refusal(404, '', 'not found');
    return { body: text() };
  };
  const given = (): InstanceIdentity => identity.instance ?? { certificate: '', key: '' };
  const identity: Identity = {
    workload: { token: 'service-account-token', clientId: 'client', clientSecret: 'secret' },
    isOpen: ({ url }) => /^\/(opc\/v2|v1\/x509|oauth2\/v1\/token)/.test(url.pathname),
    routes: {
      'GET /opc/v2/instance': metadata(() => ({ canonicalRegionName: region, region: 'phx', compartmentId: compartment })),
      'GET /opc/v2/instance/region': metadata(() => 'phx'),
      'GET /opc/v2/identity/cert.pem': metadata(() => given().certificate),
      'GET /opc/v2/identity/key.pem': metadata(() => given().key),
      'GET /opc/v2/identity/intermediate.pem': metadata(() => given().certificate),
      'POST /v1/x509': (request) => {
        const { certificate, publicKey } = request.body as { certificate: string; publicKey: string };
        const leaf = new X509Certificate(Buffer.from(certificate, 'base64'));
        const fingerprint = createHash('sha1')
          .update(leaf.raw)
          .digest('hex')
          .toUpperCase()
          .replace(/(..)(?=.)/g, '$1:');
        const leafKey = (keyId: string): KeyObject | undefined =>
          keyId.toUpperCase().endsWith(`/FED-X509/${fingerprint}`) ? leaf.publicKey : undefined;
        checkSignature(request, leafKey, Date.now());
        return { body: sessionFor(publicKey, 'instance') };
      },
      'POST /oauth2/v1/token': (request) => {
        const { token, clientId, clientSecret } = identity.workload;
        const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
        if (request.headers['authorization'] !== basic) checkSignature(request, (keyId) => keys.get(keyId), Date.now());
        const form = request.body as Record<string, string>;
        const isWhole =
          form['grant_type'] === 'urn:ietf:params:oauth:grant-type:token-exchange' && form['res_type'] && form['public_key'];
        if (!isWhole || form['subject_token'] !== token) throw notAuthenticated('the token is not taken');
        return { body: sessionFor(form['public_key'] ?? '', 'workload') };
      },
    },
  };
  return identity;
}
