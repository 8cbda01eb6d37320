// Odd and hostile OpenID providers and their tokens, against the authenticator itself: what upstream accepts is accepted, nothing else is, and an
// issuer that answers in any other way than it should holds nobody up.
import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createJwtAuthenticators, type JwtAuthenticators, signingAlgorithms } from '#apiserver/authentication';
import { systemClock } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { silentLogger } from '#utils';
import { serve, type WireResponse } from '#wire';

const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const [one, two, stranger] = [rsa(), rsa(), rsa()];
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = (key: KeyObject, more: object = {}): object => ({ ...key.export({ format: 'jwk' }), ...more });
const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const by = (key: KeyObject) => (input: string) => createSign('sha256').update(input).sign(key, 'base64url');
function signed(header: unknown, claims: unknown, signature: (input: string) => string): string {
  const input = `${encoded(header)}.${encoded(claims)}`;
  return `${input}.${signature(input)}`;
}
const seconds = (): number => Math.floor(Date.now() / 1000);

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Issuer {
  url: string;
  ca: string;
  asked: string[];
  answers: Record<string, (response: WireResponse) => void>;
}

async function startIssuer(keys: readonly object[]): Promise<Issuer> {
  const clock = systemClock();
  const ca = createCertificateAuthority({ commonName: 'test', clock });
  const usages = ['digital signature', 'server auth'] as const;
  const pair = issueCertificate({ ca, commonName: 'localhost', ips: ['127.0.0.1'], usages: [...usages], clock });
  const issuer: Issuer = { url: '', ca: ca.cert, asked: [], answers: {} };
  const server = await serve({
    tls: { cert: pair.cert, key: pair.key },
    listen: { host: '127.0.0.1', port: 0 },
    logger: silentLogger,
    async onRequest({ path }, response) {
      issuer.asked.push(path);
      const answer = issuer.answers[path];
      if (answer) answer(response);
      else response.send(404, {}, '');
    },
  });
  closing.push(() => server.close({ graceMs: 0 }));
  issuer.url = `https://127.0.0.1:${server.port}`;
  issuer.answers = {
    '/.well-known/openid-configuration': json({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }),
    '/keys': json({ keys }),
  };
  return issuer;
}
const json = (value: unknown) => (response: WireResponse) =>
  response.send(200, { 'content-type': 'application/json' }, JSON.stringify(value));
const leadTo = (location: string) => (response: WireResponse) => response.send(302, { location }, '');

const configurationOf = ({ url, ca }: Issuer) => ({
  issuer: { url, audiences: ['me'], certificateAuthority: ca },
  claimMappings: { username: { claim: 'sub', prefix: '' }, groups: { claim: 'groups', prefix: '' } },
});

/** Who a token stands for, or why it stands for nobody. */
async function who(authenticators: JwtAuthenticators, token: string): Promise<string> {
  try {
    return (await authenticators.authenticateToken(token, []))?.user.name ?? 'nobody';
  } catch (error) {
    return `refused: ${(error as Error).message}`;
  }
}

/** An authenticator that has found its issuer. */
async function authenticatorOf(issuer: Issuer): Promise<JwtAuthenticators> {
  const made = createJwtAuthenticators({ jwt: [] }, signingAlgorithms, { clock: systemClock(), logger: silentLogger });
  closing.push(() => made.close());
  await made.replace({ jwt: [configurationOf(issuer)] });
  return made;
}

describe('tokens', () => {
  const claims = (issuer: Issuer, more: object = {}) => ({
    ...{ iss: issuer.url, aud: 'me', exp: seconds() + 3600, sub: 'jane' },
    ...more,
  });

  it('are believed by whichever of several keys may be meant, and by no other', async () => {
    const issuer = await startIssuer([
      jwk(stranger.publicKey, { kid: 'same' }),
      jwk(one.publicKey, { kid: 'same' }),
      jwk(two.publicKey),
      jwk(ec.publicKey, { kid: 'same' }),
      { kty: 'oct', k: encoded('shared'), kid: 'oct' },
    ]);
    const authenticators = await authenticatorOf(issuer);
    const es256 = (input: string) =>
      createSign('sha256').update(input).sign({ key: ec.privateKey, dsaEncoding: 'ieee-p1363' }, 'base64url');
    const hmac = (secret: string) => (input: string) => createHmac('sha256', secret).update(input).digest('base64url');
    const good = claims(issuer);
    for (const token of [
      signed({ alg: 'RS256', kid: 'same' }, good, by(one.privateKey)),
      signed({ alg: 'RS256' }, good, by(one.privateKey)),
      signed({ alg: 'RS256' }, good, by(two.privateKey)),
      signed({ alg: 'RS256', kid: '' }, good, by(two.privateKey)),
      signed({ alg: 'ES256', kid: 'same' }, good, es256),
    ])
      expect(await who(authenticators, token)).toBe('jane');
    const unknown = rsa();
    const publicPem = one.publicKey.export({ type: 'spki', format: 'pem' }) as string;
    for (const token of [
      signed({ alg: 'RS256', kid: 'same' }, good, by(two.privateKey)),
      signed({ alg: 'RS256' }, good, by(unknown.privateKey)),
      signed({ alg: 'RS256', jwk: jwk(unknown.publicKey) }, good, by(unknown.privateKey)),
      signed({ alg: 'RS256', kid: 'same', crit: ['b64'], b64: false }, good, by(one.privateKey)),
      signed({ alg: 'RS512', kid: 'same' }, good, by(one.privateKey)),
      signed({ alg: 'HS256', kid: 'oct' }, good, hmac('shared')),
      signed({ alg: 'HS256', kid: 'same' }, good, hmac(publicPem)),
      signed({ alg: 'none' }, good, () => ''),
      signed({}, good, () => ''),
      signed('null', good, by(one.privateKey)),
      signed('{', good, by(one.privateKey)),
    ])
      expect(await who(authenticators, token)).toMatch(/^refused: oidc: verify token: /);
  });

  it('whose claims are of a wrong type, too early or too late are refused', async () => {
    const issuer = await startIssuer([jwk(one.publicKey)]);
    const authenticators = await authenticatorOf(issuer);
    const ask = (more: object) => who(authenticators, signed({ alg: 'RS256' }, claims(issuer, more), by(one.privateKey)));
    const now = seconds();
    for (const more of [
      {},
      { aud: ['you', 'me'] },
      { nbf: now + 30 },
      { exp: String(now + 3600) },
      { nbf: null },
      { azp: 'you' },
    ])
      expect(await ask(more)).toBe('jane');
    for (const more of [
      ...[{ nbf: 'later' }, { nbf: now + 120 }, { nbf: String(now + 3600) }, { iat: [] }, { nonce: 1 }],
      ...[{ aud: ['me', 1] }, { aud: { me: 1 } }, { aud: ['you'] }, { aud: undefined }],
      ...[{ exp: 'soon' }, { exp: null }, { exp: undefined }, { exp: -1 }, { exp: now - 10 }],
      ...[{ sub: 7 }, { sub: undefined }, { groups: 3 }, { groups: ['a', 3] }, { groups: {} }],
      ...[{ groups: undefined, _claim_names: { groups: 'toString' }, _claim_sources: {} }],
    ])
      expect(await ask(more), JSON.stringify(more)).toMatch(/^refused: /);
    expect(await ask({ iss: `${issuer.url}/` })).toBe('nobody');
  });
});

describe('issuers', () => {
  const discovery = '/.well-known/openid-configuration';

  it('are asked once for a forged token, whatever they answer, and never for one of a key that is known', async () => {
    const issuer = await startIssuer([jwk(one.publicKey, { kid: 'one' })]);
    const authenticators = await authenticatorOf(issuer);
    const claims = { iss: issuer.url, aud: 'me', exp: seconds() + 3600, sub: 'jane' };
    const token = (kid: string, key: KeyObject) => signed({ alg: 'RS256', kid }, { ...claims, jti: kid }, by(key));
    const reads = async (wanted: string): Promise<number> => {
      const before = issuer.asked.length;
      expect(await who(authenticators, token(wanted, wanted === 'one' ? one.privateKey : stranger.privateKey))).toMatch(
        wanted === 'one' ? 'jane' : /^refused/,
      );
      return issuer.asked.length - before;
    };
    expect(await reads('one')).toBe(1);
    expect(await reads('unknown')).toBe(1);
    issuer.answers['/keys'] = (response) => response.send(500, {}, 'no');
    expect(await reads('another')).toBe(1);
    expect(await reads('one')).toBe(0);
  });

  it('may lead to another address, ten times, and only over TLS', async () => {
    const issuer = await startIssuer([jwk(one.publicKey)]);
    const document = issuer.answers[discovery];
    if (document) issuer.answers = { ...issuer.answers, '/moved': document, [discovery]: leadTo('/moved') };
    const authenticators = await authenticatorOf(issuer);
    issuer.answers[discovery] = leadTo(discovery);
    await expect(authenticators.replace({ jwt: [configurationOf(issuer)] })).rejects.toThrow('stopped after 10 redirects');
    expect(issuer.asked.filter((path) => path === discovery)).toHaveLength(12);
    issuer.answers[discovery] = leadTo(`http://127.0.0.1:1${discovery}`);
    await expect(authenticators.replace({ jwt: [configurationOf(issuer)] })).rejects.toThrow('which is not https');
  });

  it.each<[string, (response: WireResponse) => void, string]>([
    ['more than a megabyte', (response) => response.send(200, {}, `{"issuer":"${'x'.repeat(2 << 20)}"}`), 'Get '],
    ['no JSON', (response) => response.send(200, {}, '<html>'), 'Get '],
    ['a list', json([]), 'issuer did not match'],
    ['null', json(null), 'not a JSON object'],
    ['another issuer', json({ issuer: 'https://other', jwks_uri: 'https://other/keys' }), 'issuer did not match'],
    ['an error', (response) => response.send(500, {}, 'x'.repeat(1000)), '500: xxx'],
  ])('that answer %s are told by a sentence, and the ones before stay', async (_what, answer, why) => {
    const issuer = await startIssuer([jwk(one.publicKey)]);
    const authenticators = await authenticatorOf(issuer);
    const good = signed({ alg: 'RS256' }, { iss: issuer.url, aud: 'me', exp: seconds() + 60, sub: 'jane' }, by(one.privateKey));
    issuer.answers[discovery] = answer;
    await expect(authenticators.replace({ jwt: [configurationOf(issuer)] })).rejects.toThrow(why);
    expect(await who(authenticators, good)).toBe('jane');
  });

  it.each<[string, unknown]>([
    ['no set', 'x'],
    ['a set of nothing', { keys: null }],
    ['keys that are none', { keys: [1, 'x', null] }],
    ['keys of wrong types', { keys: [{ kty: 'RSA', n: 7, e: {} }, { kty: ['RSA'] }, { kty: 'EC', crv: 'P-256' }] }],
    ['nothing but secrets', { keys: [{ kty: 'oct', k: 'AAAA' }] }],
  ])('whose keys are %s know nobody, and are asked again', async (_what, keys) => {
    const issuer = await startIssuer([jwk(one.publicKey)]);
    const [right, authenticators] = [issuer.answers['/keys'], await authenticatorOf(issuer)];
    const good = signed({ alg: 'RS256' }, { iss: issuer.url, aud: 'me', exp: seconds() + 60, sub: 'jane' }, by(one.privateKey));
    issuer.answers['/keys'] = json(keys);
    expect(await who(authenticators, good)).toMatch(/^refused: oidc: verify token: failed to verify signature/);
    if (right) issuer.answers['/keys'] = right;
    expect(await who(authenticators, good)).toBe('jane');
  });
});
