import { describe, expect, test } from 'vitest';
import { generateKeyPair, publicKeyPem } from '#pki';
import type { WireRequest, WireResponse } from '#wire';
import { withFilters } from './filters.ts';
import { checkJwksUri, openIdDocuments } from './openid.ts';
import { servedVersions } from './runtime-config.ts';

describe('--runtime-config', () => {
  test('switches versions, and all of a stage', () => {
    expect(servedVersions({})).toBeUndefined();
    const some = servedVersions({ 'flowcontrol.apiserver.k8s.io/v1': 'false' });
    expect(some?.('flowcontrol.apiserver.k8s.io', 'v1')).toBe(false);
    expect(some?.('apps', 'v1')).toBe(true);
    const few = servedVersions({ 'api/all': 'false', v1: 'true' });
    expect(few?.('', 'v1')).toBe(true);
    expect(few?.('apps', 'v1')).toBe(false);
    expect(servedVersions({ 'api/beta': 'false', 'storage.k8s.io/v1beta1': 'false' })?.('storage.k8s.io', 'v1')).toBe(true);
  });

  test.each([
    [{ 'api/all': 'true' }, 'versions that are off by default are not there'],
    [{ 'resource.k8s.io/v1beta1': 'true' }, 'this version is not there'],
    [{ 'nonsense/v1': 'true' }, 'unknown api groups nonsense'],
    [{ 'apps/v1': 'maybe' }, 'runtime-config invalid value apps/v1=maybe'],
    [{ 'api/all': 'false' }, 'invalid key with only api/all=false'],
    [{ 'apps/v1/deployments': 'false' }, 'single resources cannot be switched'],
  ])('%j', (config, message) => {
    expect(() => servedVersions(config as unknown as Record<string, string>)).toThrow(message);
  });
});

describe('documents for verifiers of tokens', () => {
  const { publicKey } = generateKeyPair('RSA-2048');
  const options = { serviceAccountIssuers: ['https://issuer.example'], serviceAccountKeys: [publicKeyPem(publicKey)] };

  test('name issuer, keys and algorithms', () => {
    const documents = openIdDocuments(options, () => '192.0.2.1:6443');
    const read = (path: string): unknown => JSON.parse(documents.get(path)?.().body ?? 'null');
    expect(read('/.well-known/openid-configuration')).toEqual({
      issuer: 'https://issuer.example',
      jwks_uri: 'https://192.0.2.1:6443/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    });
    expect(read('/openid/v1/jwks')).toMatchObject({ keys: [{ kty: 'RSA', alg: 'RS256', use: 'sig' }] });
  });

  test('are not there for an issuer that is no https URL', () => {
    expect(openIdDocuments({ ...options, serviceAccountIssuers: ['kubernetes'] }, () => '').size).toBe(0);
    expect(() => checkJwksUri('http://a.example/keys')).toThrow('service-account-jwks-uri requires https scheme');
  });
});

describe('filters', () => {
  const ask = async (method: string, origin: string): Promise<[number, object]> => {
    const sent: [number, object][] = [];
    const response = { send: (status: number, headers: object) => void sent.push([status, headers]) } as unknown as WireResponse;
    const serve = withFilters(
      { corsAllowedOrigins: ['^https://a\\.example$'], strictTransportSecurityDirectives: ['max-age=60'] },
      (_, answer) => Promise.resolve(answer.send(200, { 'content-type': 'text/plain' }, '')),
    );
    await serve({ method, headers: { origin }, encrypted: true } as unknown as WireRequest, response);
    return sent[0] as [number, object];
  };

  test('pages of allowed origins may read answers, others may not', async () => {
    const allowed = { 'access-control-allow-origin': 'https://a.example', 'strict-transport-security': 'max-age=60' };
    expect(await ask('GET', 'https://a.example')).toEqual([200, expect.objectContaining(allowed)]);
    expect(await ask('OPTIONS', 'https://a.example')).toEqual([204, expect.objectContaining(allowed)]);
    const other = { 'content-type': 'text/plain', 'strict-transport-security': 'max-age=60' };
    expect(await ask('OPTIONS', 'https://b.example')).toEqual([200, other]);
  });

  test('directives are upstream’s', () => {
    const serve = () => Promise.resolve();
    expect(() => withFilters({ strictTransportSecurityDirectives: ['forever'] }, serve)).toThrow(
      'allowed values: max-age=expireTime',
    );
  });
});
