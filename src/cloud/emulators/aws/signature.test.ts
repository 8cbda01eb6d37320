import { describe, expect, it } from 'vitest';
import type { EmulatedRequest } from '../emulator.ts';
import { verifySignature } from './signature.ts';

const body = Buffer.from('Action=DescribeInstances&Version=2016-11-15');
const key = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const nowMs = Date.parse('2015-08-30T12:36:00Z');

/** The example of AWS's own test suite, `get-vanilla-query-order-key-case`: a request with its published signature. */
const published: EmulatedRequest = {
  method: 'GET',
  path: '/?Param2=value2&Param1=value1',
  headers: {
    host: 'example.amazonaws.com',
    'x-amz-date': '20150830T123600Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  body: Buffer.alloc(0),
};
const verify = (change: Partial<EmulatedRequest> = {}, atMs = nowMs, secret = key.secret): string =>
  verifySignature({ ...published, ...change }, { ...key, secret }, 'us-east-1', atMs);
const withHeader = (name: string, value: string | undefined) => ({ headers: { ...published.headers, [name]: value } });

describe('a signed request', () => {
  it('passes with the signature that AWS publishes for it', () => expect(verify()).toBe('service'));
  it.each<[string, () => string, string]>([
    ['another body', () => verify({ body }), 'SignatureDoesNotMatch'],
    ...['constructor', '__proto__'].map((name): [string, () => string, string] => [
      `a header named ${name} that was not sent`,
      () => verify(withHeader('authorization', published.headers['authorization']?.toString().replace('host;', `host;${name};`))),
      'SignatureDoesNotMatch',
    ]),
    ['another query', () => verify({ path: '/?Param2=value2&Param1=value3' }), 'SignatureDoesNotMatch'],
    ['another method', () => verify({ method: 'POST' }), 'SignatureDoesNotMatch'],
    ['another host', () => verify(withHeader('host', 'evil.example')), 'SignatureDoesNotMatch'],
    ['another secret', () => verify({}, nowMs, 'secret'), 'SignatureDoesNotMatch'],
    ['a request of six minutes ago', () => verify({}, nowMs + 360_000), 'SignatureDoesNotMatch'],
    ['a request of tomorrow', () => verify({}, nowMs - 86_400_000), 'SignatureDoesNotMatch'],
    ['another day than the key is for', () => verify(withHeader('x-amz-date', '20150831T123600Z')), 'IncompleteSignature'],
    ['no time', () => verify(withHeader('x-amz-date', undefined)), 'IncompleteSignature'],
    ['no signature', () => verify(withHeader('authorization', undefined)), 'MissingAuthenticationToken'],
    ['another scheme', () => verify(withHeader('authorization', 'Bearer token')), 'IncompleteSignature'],
    ['another region', () => verifySignature(published, key, 'eu-west-1', nowMs), 'SignatureDoesNotMatch'],
    [
      'a key that is not known',
      () => verifySignature(published, { ...key, id: 'AKIDOTHER' }, 'us-east-1', nowMs),
      'InvalidClientTokenId',
    ],
  ])('is refused: %s', (_what, act, code) => expect(act).toThrow(expect.objectContaining({ code, status: 403 })));
  it('must have its host signed', () => {
    const authorization = published.headers.authorization?.replace('host;', '');
    expect(() => verify(withHeader('authorization', authorization))).toThrow("'Host' must be a 'SignedHeader'");
  });
});
