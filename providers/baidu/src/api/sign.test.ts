import { describe, expect, it } from 'vitest';
import { authPrefix, signatureOf, signedHeaders, uriEncoded } from './sign.ts';

describe('a signature', () => {
  // The example of the vendor's reference (https://cloud.baidu.com/doc/Reference/s/njwvz1yfu).
  it('is the one of the vendor’s example', () => {
    const prefix = authPrefix('a'.repeat(32), '2015-04-27T08:23:49Z', 1800);
    const headers = {
      host: 'bj.bcebos.com',
      'content-length': '8',
      'content-md5': 'NFzcPqhviddjRNnSOGo4rw==',
      'content-type': 'text/plain',
      'x-bce-date': '2015-04-27T08:23:49Z',
    };
    const url = new URL(
      'http://bj.bcebos.com/v1/test/myfolder/readme.txt?partNumber=9&uploadId=a44cc9bab11cbd156984767aad637851',
    );
    const signature = signatureOf({ method: 'PUT', url, headers, signed: Object.keys(headers) }, prefix, 'b'.repeat(32));
    expect(signature).toBe('d74a04362e6a848f5b39b15421cb449427f419c95a480fd6b8cf9fc783e2999e');
  });
  it('covers the host, the time and the session token', () => {
    const url = new URL('https://blb.bj.baidubce.com/v1/blb');
    const request = { method: 'GET', url, atMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678), expireSeconds: 60 };
    const plain = { accessKeyId: 'key', secretAccessKey: 'secret' };
    expect(signedHeaders(request, plain)).toEqual({
      'x-bce-date': '2026-01-02T03:04:05Z',
      authorization: expect.stringMatching(/^bce-auth-v1\/key\/2026-01-02T03:04:05Z\/60\/host;x-bce-date\/[0-9a-f]{64}$/),
    });
    expect(signedHeaders(request, { ...plain, sessionToken: 'token' })).toMatchObject({
      'x-bce-security-token': 'token',
      authorization: expect.stringContaining('/host;x-bce-date;x-bce-security-token/'),
    });
  });
  it('encodes all but unreserved characters', () => {
    expect(uriEncoded("a-b_c.d~e f*g'h(i)!子")).toBe('a-b_c.d~e%20f%2Ag%27h%28i%29%21%E5%AD%90');
  });
});
