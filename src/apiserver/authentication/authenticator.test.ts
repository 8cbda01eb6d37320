import { expect, test } from 'vitest';
import { createCertificateAuthority, generateKeyPair, issueCertificate, jwtKey, parseCertificate, signJwt } from '#pki';
import { MemoryCluster } from '../registry/test-support/memory-cluster.ts';
import type { Credentials } from '../request/request.ts';
import { createAuthentication, defaultAnonymous, audienceAgnostic } from './authenticator.ts';
import { createBootstrapTokenAuthenticator } from './bootstrap-token.ts';
import { createServiceAccountAuthenticator } from './service-account.ts';
import { boundClaims } from './service-account-claims.ts';
import { createStaticTokenAuthenticator, parseTokenFile } from './token-file.ts';
import { createCertificateVerifier } from './x509.ts';

const nowMs = Date.now();
const keys = generateKeyPair();
const issuer = 'https://kubernetes.default.svc.cluster.local';
const ask = (headers: Credentials['headers'], more: Partial<Credentials> = {}): Credentials => ({
  method: 'GET',
  path: '/api',
  headers,
  ...more,
});
const bearer = (token: string) => ask({ authorization: `Bearer ${token}` });

function setUp() {
  const cluster = new MemoryCluster();
  cluster.put('', 'serviceaccounts', { metadata: { name: 'default', namespace: 'ns', uid: 'sa-1' } });
  cluster.put('', 'pods', { metadata: { name: 'p', namespace: 'ns', uid: 'pod-1' } });
  cluster.put('', 'secrets', {
    metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(
      Object.entries({ 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' }).map(
        ([key, value]) => [key, btoa(value)],
      ),
    ),
  } as never);
  const file = parseTokenFile('secret-1,admin,1,"system:masters,ops"\n', 'tokens.csv');
  const authentication = createAuthentication({
    apiAudiences: [issuer],
    anonymous: defaultAnonymous,
    tokens: [
      audienceAgnostic(createStaticTokenAuthenticator(file), [issuer]),
      createServiceAccountAuthenticator({
        issuers: [issuer],
        keys: [jwtKey(keys.publicKey)],
        apiAudiences: [issuer],
        cluster,
        now: () => nowMs,
      }),
      audienceAgnostic(
        createBootstrapTokenAuthenticator(cluster, () => nowMs),
        [issuer],
      ),
    ],
  });
  return { cluster, authentication };
}

const podToken = (more: Partial<Parameters<typeof boundClaims>[0]> = {}): string =>
  signJwt(
    {
      ...boundClaims({
        issuer,
        serviceAccount: { metadata: { name: 'default', namespace: 'ns', uid: 'sa-1' } },
        pod: { metadata: { name: 'p', namespace: 'ns', uid: 'pod-1' } },
        audiences: [issuer],
        expirationSeconds: 3600,
        warnAfterSeconds: 0,
        nowMs,
        id: 'jti-1',
        ...more,
      }),
    },
    keys.privateKey,
    keys.publicKey,
  );

test('knows tokens of the file and of bootstrap secrets', async () => {
  const { authentication } = setUp();
  expect(await authentication.authenticate(bearer('secret-1'))).toEqual({
    name: 'admin',
    uid: '1',
    groups: ['system:masters', 'ops', 'system:authenticated'],
  });
  expect(await authentication.authenticate(bearer('abcdef.0123456789abcdef'))).toEqual({
    name: 'system:bootstrap:abcdef',
    groups: ['system:bootstrappers', 'system:authenticated'],
  });
});

test('anonymous sees health and version only, and never instead of a bad credential', async () => {
  const { authentication } = setUp();
  expect(await authentication.authenticate(ask({}, { path: '/readyz' }))).toMatchObject({ name: 'system:anonymous' });
  await expect(async () => authentication.authenticate(ask({}))).rejects.toMatchObject({
    status: { code: 401, message: 'Unauthorized' },
  });
  await expect(async () =>
    authentication.authenticate(ask({ authorization: 'Bearer wrong' }, { path: '/readyz' })),
  ).rejects.toMatchObject({
    status: { code: 401 },
  });
});

test('a service account token carries its pod and ends with it', async () => {
  const { cluster, authentication } = setUp();
  const token = podToken();
  const user = await authentication.authenticate(bearer(token));
  expect(user).toMatchObject({
    name: 'system:serviceaccount:ns:default',
    uid: 'sa-1',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/pod-name': ['p'], 'authentication.kubernetes.io/credential-id': ['JTI=jti-1'] },
  });
  expect(await authentication.authenticate(bearer(token))).toBe(user);
  await cluster.delete('', 'pods', 'ns', 'p');
  expect((await authentication.reviewToken(token, [issuer])).error).toBe(
    '[invalid bearer token, service account token has been invalidated]',
  );
});

test.each([
  ['expired', { nowMs: nowMs - 4000_000 }, 'service account token has expired'],
  ['for others', { audiences: ['vault'] }, `token audiences ["vault"] is invalid for the target audiences ["${issuer}"]`],
  [
    'of a former account',
    { serviceAccount: { metadata: { name: 'default', namespace: 'ns', uid: 'sa-0' } } },
    'service account UID (sa-1) does not match claim (sa-0)',
  ],
  [
    'of nobody',
    { serviceAccount: { metadata: { name: 'gone', namespace: 'ns', uid: 'x' } } },
    'serviceaccounts "gone" not found',
  ],
])('refuses a token %s', async (_, more, error) => {
  const { authentication } = setUp();
  expect(await authentication.reviewToken(podToken(more), [issuer])).toEqual({ error: `[invalid bearer token, ${error}]` });
});

test('a token without claims of its own issuer is nobody', async () => {
  const { authentication } = setUp();
  const token = signJwt({ iss: issuer, sub: 'system:serviceaccount:ns:default' }, keys.privateKey, keys.publicKey);
  await expect(async () => authentication.authenticate(bearer(token))).rejects.toMatchObject({ status: { code: 401 } });
});

test('client certificates give user and groups; the front proxy speaks for others', async () => {
  const ca = createCertificateAuthority({ commonName: 'ca' });
  const caPem = ca.cert;
  const derOf = (commonName: string, organizations: string[]) =>
    parseCertificate(issueCertificate({ ca, commonName, organizations, usages: ['digital signature', 'client auth'] }).cert).raw;
  const verifier = createCertificateVerifier(caPem, () => nowMs + 1000);
  const authentication = createAuthentication({
    apiAudiences: [issuer],
    anonymous: false,
    tokens: [],
    clientCa: verifier,
    requestHeader: {
      verifier,
      allowedNames: ['front-proxy'],
      usernameHeaders: ['X-Remote-User'],
      uidHeaders: [],
      groupHeaders: ['X-Remote-Group'],
      extraHeaderPrefixes: ['X-Remote-Extra-'],
    },
  });
  const user = await authentication.authenticate(ask({}, { peerCertificates: [derOf('system:node:n1', ['system:nodes'])] }));
  expect(user).toMatchObject({ name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] });
  expect(user.extra?.['authentication.kubernetes.io/credential-id']?.[0]).toMatch(/^X509SHA256=[0-9a-f]{64}$/);
  const remote = { 'x-remote-user': 'jane', 'x-remote-group': ['a', 'b'], 'x-remote-extra-acme%2fteam': 'x' };
  expect(await authentication.authenticate(ask(remote, { peerCertificates: [derOf('front-proxy', [])] }))).toEqual({
    name: 'jane',
    groups: ['a', 'b', 'system:authenticated'],
    extra: { 'acme/team': ['x'] },
  });
  expect(await authentication.authenticate(ask(remote, { peerCertificates: [derOf('other', [])] }))).toMatchObject({
    name: 'other',
  });
  const stranger = createCertificateAuthority({ commonName: 'ca' });
  const forged = parseCertificate(
    issueCertificate({ ca: stranger, commonName: 'x', organizations: [], usages: ['client auth'] }).cert,
  ).raw;
  await expect(async () => authentication.authenticate(ask({}, { peerCertificates: [forged] }))).rejects.toMatchObject({
    status: { code: 401 },
  });
});

test('a server without audiences of its own knows its tokens all the same', async () => {
  const file = parseTokenFile('secret-1,admin,1,"system:masters"\n', 'tokens.csv');
  const tokens = [audienceAgnostic(createStaticTokenAuthenticator(file), [])];
  const authentication = createAuthentication({ apiAudiences: [], anonymous: false, tokens });
  expect(await authentication.authenticate(bearer('secret-1'))).toMatchObject({ name: 'admin' });
  expect(await authentication.reviewToken('secret-1', ['other'])).not.toHaveProperty('answer');
});
