// Identities and decisions from elsewhere over the real apiserver: OpenID providers by flags and by file, token webhooks, access webhooks.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { serveWithFlags } from '../../support/flagged-server.ts';
import { type Asked, startHttpsServer, type TestServer } from '../../support/https-server.ts';

let folder: string;
let closing: (() => Promise<void> | void)[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'identities-'));
  closing = [];
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  await rm(folder, { recursive: true });
});

const file = async (name: string, content: unknown): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

const serve = (flags: readonly string[]) => serveWithFlags({ file, closing }, flags);

/** An OpenID provider: its keys can be replaced. */
async function startProvider() {
  let pair = await generateKeyPair('RS256');
  let kid = 'one';
  let jwks: object = {};
  const publish = async (): Promise<void> => {
    jwks = { keys: [{ ...(await exportJWK(pair.publicKey)), kid, use: 'sig', alg: 'RS256' }] };
  };
  await publish();
  let keyReads = 0;
  const server: TestServer = await startHttpsServer(({ path }) => {
    if (path === '/keys') keyReads++;
    if (path === '/keys') return { value: jwks };
    if (path === '/.well-known/openid-configuration') return { value: { issuer: server.url, jwks_uri: `${server.url}/keys` } };
    return { status: 404, value: {} };
  });
  closing.push(() => server.close());
  const token = (claims: JWTPayload, { aud = 'me', exp = '1h' } = {}): Promise<string> =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid })
      .setIssuer(server.url)
      .setAudience(aud)
      .setExpirationTime(exp)
      .sign(pair.privateKey);
  return {
    url: server.url,
    ca: server.ca,
    token,
    keyReads: () => keyReads,
    async rotate() {
      pair = await generateKeyPair('RS256');
      kid = `${kid}+`;
      await publish();
    },
  };
}

const found = async (who: () => Promise<unknown>): Promise<void> => {
  await vi.waitFor(async () => expect(await who()).toBeTypeOf('object'), { timeout: 15_000, interval: 100 });
};

describe('OpenID Connect', () => {
  it('by flags: names, groups and required claims as upstream reads them', async () => {
    const provider = await startProvider();
    const { whoIs, refusal } = await serve([
      ...[`--oidc-issuer-url=${provider.url}`, '--oidc-client-id=me', `--oidc-ca-file=${await file('ca.crt', provider.ca)}`],
      ...['--oidc-groups-claim=groups', '--oidc-groups-prefix=oidc:', '--oidc-required-claim=tier=gold'],
    ]);
    const good = await provider.token({ sub: 'jane', groups: ['dev', 'ops'], tier: 'gold', jti: 'x1' });
    await found(() => whoIs(good));
    expect(await whoIs(good)).toEqual({
      username: `${provider.url}#jane`,
      groups: ['oidc:dev', 'oidc:ops', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['JTI=x1'] },
    });
    expect(await refusal(await provider.token({ sub: 'jane', tier: 'gold' }, { aud: 'other' }))).toContain(
      'expected audience in ["me"] got ["other"]',
    );
    expect(await refusal(await provider.token({ sub: 'jane', tier: 'gold' }, { exp: '-1h' }))).toContain(
      'oidc: token is expired',
    );
    expect(await refusal(await provider.token({ sub: 'jane' }))).toContain('oidc: required claim tier not present in ID token');
    expect(await refusal(`${good.slice(0, -4)}AAAA`)).toContain('failed to verify id token signature');
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${good.split('.')[1]}.`;
    expect(await refusal(none)).toContain('oidc: id token signed with unsupported algorithm, expected ["RS256"] got "none"');
    expect(await whoIs(`${good.slice(0, -4)}AAAA`)).toBe(401);
  });

  it('reads new keys when a token needs them, and not for every forged one', async () => {
    const provider = await startProvider();
    const { whoIs } = await serve([
      ...[`--oidc-issuer-url=${provider.url}`, '--oidc-client-id=me', `--oidc-ca-file=${await file('ca.crt', provider.ca)}`],
    ]);
    const first = await provider.token({ sub: 'a' });
    await found(() => whoIs(first));
    await provider.rotate();
    expect(await whoIs(await provider.token({ sub: 'b' }))).toMatchObject({ username: `${provider.url}#b` });
    const read = provider.keyReads();
    const forged = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        new SignJWT({ sub: 'x' })
          .setProtectedHeader({ alg: 'RS256', kid: `no${at}` })
          .setIssuer(provider.url)
          .setAudience('me')
          .setExpirationTime('1h')
          .sign(generated),
      ),
    );
    for (const token of forged) expect(await whoIs(token)).toBe(401);
    expect(provider.keyReads() - read).toBeLessThan(30);
  });

  it('by file: expressions map and judge claims, several issuers side by side, reloaded when it changes', async () => {
    const [one, two] = [await startProvider(), await startProvider()];
    const issuer = (provider: typeof one) => ({
      url: provider.url,
      certificateAuthority: provider.ca,
      audiences: ['me', 'you'],
      audienceMatchPolicy: 'MatchAny',
    });
    const configuration = (...jwt: object[]) => ({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthenticationConfiguration',
      jwt,
      anonymous: { enabled: true, conditions: [{ path: '/livez' }] },
    });
    const first = {
      issuer: issuer(one),
      claimValidationRules: [{ expression: "claims.hd == 'example.org'", message: 'of another house' }],
      claimMappings: {
        username: { expression: "'one:' + claims.sub" },
        groups: { expression: "claims.roles.split(',')" },
        uid: { expression: 'claims.id' },
        extra: [{ key: 'example.org/tenant', valueExpression: 'claims.tenant' }],
      },
      userValidationRules: [{ expression: "!user.username.startsWith('one:system')", message: 'reserved' }],
    };
    const second = { issuer: issuer(two), claimMappings: { username: { claim: 'email', prefix: '' } } };
    const path = await file('authn.yaml', configuration(first));
    const { send, whoIs, refusal, server } = await serve([`--authentication-config=${path}`]);
    const claims = { sub: 'jane', hd: 'example.org', roles: 'a,b', id: '7', tenant: 't' };
    const token = await one.token(claims);
    await found(() => whoIs(token));
    expect(await whoIs(token)).toEqual({
      username: 'one:jane',
      uid: '7',
      groups: ['a', 'b', 'system:authenticated'],
      extra: { 'example.org/tenant': ['t'] },
    });
    expect(await refusal(await one.token({ ...claims, hd: 'x' }))).toContain('of another house');
    expect(await refusal(await one.token({ ...claims, sub: 'system:x' }))).toContain('reserved');
    expect((await send(undefined, 'GET', '/livez')).status).toBe(200);
    expect((await send(undefined, 'GET', '/healthz')).status).toBe(401);
    const mail = { email: 'b@example.org', email_verified: true };
    expect(await whoIs(await two.token(mail))).toBe(401);
    await writeFile(path, JSON.stringify(configuration(first, second)));
    const late = await two.token(mail);
    await found(() => whoIs(late));
    expect(await whoIs(late)).toMatchObject({ username: 'b@example.org' });
    expect(await refusal(await two.token({ ...mail, email_verified: false }))).toContain('oidc: email not verified');
    await writeFile(path, JSON.stringify(configuration({ issuer: {} })));
    await vi.waitFor(
      async () =>
        expect((await send(server.loopbackToken, 'GET', '/metrics')).text).toContain(
          'apiserver_authentication_config_controller_automatic_reloads_total{status="failure"',
        ),
      { timeout: 15_000 },
    );
    expect(await whoIs(late)).toMatchObject({ username: 'b@example.org' });
  });

  it.each([
    [[], 401],
    [['--authorization-mode=RBAC,AlwaysAllow'], 401],
    [['--anonymous-auth=true'], 401],
    [['--authorization-mode=RBAC'], 403],
  ])('nobody comes in without a name where everybody may do everything: %j', async (flags, status) => {
    const { send } = await serve(flags);
    expect((await send(undefined, 'GET', '/api/v1/namespaces')).status).toBe(status);
    const headers = { authorization: `Basic ${btoa('bad:wrong')}` };
    expect((await send(undefined, 'GET', '/api/v1/namespaces', undefined, headers)).status).toBe(status);
  });

  it.each([
    [['--oidc-issuer-url=https://a.example'], 'oidc-issuer-url and oidc-client-id must be specified together'],
    [
      ['--oidc-issuer-url=http://a.example', '--oidc-client-id=x'],
      'jwt[0].issuer.url: Invalid value: "http://a.example": URL scheme must be https',
    ],
    [['--oidc-issuer-url=https://own.example', '--oidc-client-id=x'], 'URL must not overlap with disallowed issuers'],
    [
      ['--oidc-issuer-url=https://a.example', '--oidc-client-id=x', '--oidc-signing-algs=HS256'],
      'oidc: unsupported signing alg: "HS256"',
    ],
    [['--authorization-mode=Webhook'], "authorization-mode Webhook's authorization config file not passed"],
    [['--authorization-mode=RBAC,RBAC'], 'has mode specified more than once'],
  ])('%j is refused', async (flags, message) => {
    await expect(serve(flags)).rejects.toThrow(message);
  });

  it.each([
    ['nothing', 'data does not contain any valid RSA or ECDSA certificates'],
    ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', 'asn1: '],
  ])('an authority of an issuer that is none is refused: %j', async (text, message) => {
    const flags = ['--oidc-issuer-url=https://a.example', '--oidc-client-id=x', `--oidc-ca-file=${await file('none.crt', text)}`];
    await expect(serve(flags)).rejects.toThrow(`jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": ${message}`);
  });
});

const generated = (await generateKeyPair('RS256')).privateKey;

const kubeconfig = (server: Pick<TestServer, 'url' | 'ca'>) => ({
  clusters: [
    {
      name: 'c',
      cluster: { server: `${server.url}/review`, 'certificate-authority-data': Buffer.from(server.ca).toString('base64') },
    },
  ],
  users: [{ name: 'u', user: { token: 'from-apiserver' } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
});
const specOf = ({ body }: Asked) => JSON.parse(body) as { apiVersion: string; spec: Record<string, never> };

it('a token webhook is asked once for a token, and its users are users', async () => {
  const server = await startHttpsServer((asked) => {
    const { spec } = specOf(asked);
    return {
      value: {
        status:
          spec['token'] === 'let-me-in'
            ? { authenticated: true, user: { username: 'joe', groups: ['g'] } }
            : { authenticated: false, error: 'never heard of it' },
      },
    };
  });
  closing.push(() => server.close());
  const config = await file('tokens.kubeconfig', kubeconfig(server));
  const { whoIs, refusal } = await serve([
    `--authentication-token-webhook-config-file=${config}`,
    '--authentication-token-webhook-version=v1',
  ]);
  for (let time = 0; time < 3; time++)
    expect(await whoIs('let-me-in')).toEqual({ username: 'joe', groups: ['g', 'system:authenticated'] });
  expect(server.asked).toHaveLength(1);
  expect(server.asked[0]?.headers['authorization']).toBe('Bearer from-apiserver');
  expect(specOf(server.asked[0] as Asked)).toMatchObject({
    apiVersion: 'authentication.k8s.io/v1',
    spec: { token: 'let-me-in', audiences: ['https://own.example'] },
  });
  expect(await whoIs('other')).toBe(401);
  expect(await refusal('other')).toContain('never heard of it');
});

it('who waits for a token webhook that says nothing waits as long as they wanted', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  closing.push(() => void silent.close());
  const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const { send } = await serve([
    `--authentication-token-webhook-config-file=${await file('tokens.kubeconfig', kubeconfig({ url, ca: '' }))}`,
    '--authentication-token-webhook-version=v1',
  ]);
  const { status, value } = await send('any', 'GET', '/api/v1/namespaces?timeout=1s');
  expect([status, value['message']]).toEqual([504, 'Timeout: request did not complete within the allotted timeout']);
});

it('a token webhook may know somebody of no group that priority and fairness knows', async () => {
  const user = { username: 'system:anonymous', groups: ['g'] };
  const server = await startHttpsServer(() => ({ value: { status: { authenticated: true, user } } }));
  closing.push(() => server.close());
  const { send } = await serve([
    `--authentication-token-webhook-config-file=${await file('tokens.kubeconfig', kubeconfig(server))}`,
    ...['--authentication-token-webhook-version=v1', '--authorization-mode=RBAC'],
  ]);
  const { status, text } = await send('any', 'GET', '/api/v1/namespaces');
  expect([status, text]).toEqual([403, expect.stringContaining('User \\"system:anonymous\\" cannot list resource')]);
});

describe('access webhooks', () => {
  const tokens = 'jane,jane,1,"dev"\njoe,joe,2,""\n';

  it('--authorization-mode=Webhook allows what the server allows, and remembers it', async () => {
    const server = await startHttpsServer((asked) => ({
      value: { status: { allowed: specOf(asked).spec['user'] === 'jane', reason: 'only jane' } },
    }));
    closing.push(() => server.close());
    const config = await file('access.kubeconfig', kubeconfig(server));
    const { send } = await serve([
      ...[`--token-auth-file=${await file('tokens.csv', tokens)}`, '--authorization-mode=RBAC,Webhook'],
      ...[`--authorization-webhook-config-file=${config}`, '--authorization-webhook-version=v1'],
    ]);
    for (let time = 0; time < 2; time++) expect((await send('jane', 'GET', '/api/v1/namespaces/default/pods')).status).toBe(200);
    expect(server.asked).toHaveLength(1);
    expect(specOf(server.asked[0] as Asked).spec).toEqual({
      resourceAttributes: { namespace: 'default', verb: 'list', version: 'v1', resource: 'pods' },
      user: 'jane',
      groups: ['dev', 'system:authenticated'],
      uid: '1',
    });
    const { status, value } = await send('joe', 'GET', '/api/v1/namespaces/default/pods');
    expect(status).toBe(403);
    expect(value['message']).toContain('only jane');
  });

  it('a file chooses webhooks, conditions and what their failure means, and can change', async () => {
    let broken = false;
    const server = await startHttpsServer(() =>
      broken ? { status: 503, value: {} } : { value: { status: { allowed: false, denied: true, reason: 'no' } } },
    );
    closing.push(() => server.close());
    const kubeConfigFile = await file('access.kubeconfig', kubeconfig(server));
    const webhook = (more: object = {}) => ({
      type: 'Webhook',
      name: 'guard',
      webhook: {
        ...{ timeout: '3s', subjectAccessReviewVersion: 'v1', failurePolicy: 'Deny', cacheUnauthorizedRequests: false },
        connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
        matchConditionSubjectAccessReviewVersion: 'v1',
        matchConditions: [{ expression: "has(request.resourceAttributes) && request.resourceAttributes.resource == 'secrets'" }],
        ...more,
      },
    });
    const configuration = (...authorizers: object[]) => ({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthorizationConfiguration',
      authorizers,
    });
    const allow = { type: 'AlwaysAllow', name: 'alwaysallow' };
    const path = await file('authz.yaml', configuration(webhook(), allow));
    const { send } = await serve([`--token-auth-file=${await file('tokens.csv', tokens)}`, `--authorization-config=${path}`]);
    const status = async (what: string): Promise<number> =>
      (await send('jane', 'GET', `/api/v1/namespaces/default/${what}`)).status;
    expect(await status('pods')).toBe(200);
    expect(server.asked).toHaveLength(0);
    expect(await status('secrets')).toBe(403);
    broken = true;
    expect(await send('jane', 'GET', '/api/v1/namespaces/default/secrets?limit=1')).toMatchObject({
      status: 500,
      text: 'Internal Server Error: "/api/v1/namespaces/default/secrets?limit=1": the server is currently unable to handle the request\n',
    });
    await writeFile(path, JSON.stringify(configuration(webhook({ failurePolicy: 'NoOpinion' }), allow)));
    await vi.waitFor(async () => expect(await status('secrets')).toBe(200), { timeout: 15_000, interval: 100 });
  });

  it.each([
    [{ authorizers: [] }, 'authorizers: Required value: at least one authorization mode must be defined'],
    [{ authorizers: [{ type: 'ABAC', name: 'a' }] }, 'authorizers[0].type: Unsupported value: "ABAC"'],
    [{ authorizers: [{ type: 'RBAC', name: 'a' }] }, 'expected name rbac for authorizer RBAC instead of a'],
    [{ authorizers: [{ type: 'Webhook', name: 'a' }] }, 'authorizers[0].webhook: Required value: required when type=Webhook'],
    [{ authorizers: [{ type: 'Webhook', name: 'a', webhook: {} }] }, 'authorizers[0].failurePolicy: Required value'],
    [
      { authorizers: [{ type: 'Webhook', name: 'a', webhook: { matchConditions: [{ expression: '1 +' }] } }] },
      'compilation failed',
    ],
    [
      {
        authorizers: [
          { type: 'RBAC', name: 'a' },
          { type: 'RBAC', name: 'b' },
        ],
      },
      'authorizers[1].type: Duplicate value: "RBAC"',
    ],
  ])('%j is refused in upstream’s words', async (content, message) => {
    const path = await file('authz.yaml', {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthorizationConfiguration',
      ...content,
    });
    await expect(serve([`--authorization-config=${path}`])).rejects.toThrow(message);
  });
});
