import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { parsePublicKeys, privateKeyPem, publicKeyDer, publicKeyPem } from '../keys.ts';
import { generateKeyPair } from '../key-pair.ts';
import { decodeJwt, exportJwks, jwtKey, signJwt, verifyJwt } from './jwt.ts';

const claims = { iss: 'https://kubernetes.default.svc.cluster.local', sub: 'system:serviceaccount:default:default' };
const pairs = { ES256: generateKeyPair(), RS256: generateKeyPair('RSA-2048') };

test.each(['ES256', 'RS256'] as const)('%s tokens verify with their key only', (alg) => {
  const { privateKey, publicKey } = pairs[alg];
  const token = signJwt(claims, privateKey, publicKey);
  expect(decodeJwt(token).header).toEqual({ alg, kid: createHash('sha256').update(publicKeyDer(publicKey)).digest('base64url') });
  expect(verifyJwt(token, [jwtKey(publicKey)]).claims).toEqual(claims);
  expect(() => verifyJwt(token, [jwtKey(generateKeyPair().publicKey)])).toThrow('error in cryptographic primitive');
  const [header, , signature] = token.split('.');
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'admin' })).toString('base64url');
  expect(() => verifyJwt(`${header}.${forged}.${signature}`, [jwtKey(publicKey)])).toThrow('error in cryptographic primitive');
});

test('the algorithm is the key’s, not the header’s', () => {
  const { publicKey } = pairs.RS256;
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const alg of ['none', 'HS256', 'ES256']) {
    expect(() => verifyJwt(`${part({ alg })}.${part(claims)}.`, [jwtKey(publicKey)])).toThrow('error in cryptographic primitive');
  }
});

test.each(['', 'a.b', 'a.b.c', '..', `${'x'.repeat(100_000)}.e30.e30`])('malformed token %#', (token) => {
  expect(() => verifyJwt(token, [jwtKey(pairs.ES256.publicKey)])).toThrow('malformed token');
});

test('a key set names every key', () => {
  const { keys } = exportJwks([pairs.ES256.publicKey, pairs.RS256.publicKey]);
  expect(keys.map((key) => [key.kty, key.alg, key.use])).toEqual([
    ['EC', 'ES256', 'sig'],
    ['RSA', 'RS256', 'sig'],
  ]);
});

test('public keys are read from public and private key files', () => {
  const { privateKey, publicKey } = pairs.ES256;
  const keys = parsePublicKeys(publicKeyPem(publicKey) + privateKeyPem(privateKey) + publicKeyPem(pairs.RS256.publicKey));
  expect(keys.map((key) => key.asymmetricKeyType)).toEqual(['ec', 'ec', 'rsa']);
  expect(() => parsePublicKeys('nothing')).toThrow('does not contain any valid');
});
