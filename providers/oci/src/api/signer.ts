// Signs requests (https://docs.oracle.com/iaas/Content/API/Concepts/signingrequests.htm). The SDK's own signer reads the private key anew for each request,
// and signs on the main thread; this one keeps the key, and signs beside it.
import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { AuthenticationDetailsProvider, HttpRequest } from 'oci-common';

const signAsync = promisify(sign) as (algorithm: string, data: Buffer, key: KeyObject) => Promise<Buffer>;
const withBody: readonly string[] = ['POST', 'PUT', 'PATCH'];

export interface Signer {
  /** Adds the headers that the signature needs, and the signature. */
  sign(request: HttpRequest): Promise<void>;
}

export function createSigner(provider: AuthenticationDetailsProvider): Signer {
  let known: { pem: string; key: KeyObject } | undefined;
  /** Keys of principals are replaced now and then. */
  function keyNow(): KeyObject {
    const pem = provider.getPrivateKey();
    if (known?.pem !== pem) {
      const passphrase = provider.getPassphrase();
      known = { pem, key: createPrivateKey({ key: pem, ...(passphrase && { passphrase }) }) };
    }
    return known.key;
  }
  return {
    async sign({ method, headers, uri, body }) {
      const { host, pathname, search } = new URL(uri);
      headers.set('host', host);
      headers.set('x-date', new Date().toUTCString());
      const names = ['x-date', '(request-target)', 'host'];
      if (withBody.includes(method)) {
        const bytes = Buffer.from(typeof body === 'string' ? body : '');
        headers.set('content-type', headers.get('content-type') ?? 'application/json');
        headers.set('content-length', String(bytes.length));
        headers.set('x-content-sha256', createHash('sha256').update(bytes).digest('base64'));
        names.push('content-type', 'content-length', 'x-content-sha256');
      }
      // The ID first: with a principal it is what brings the key up to date.
      const keyId = await provider.getKeyId();
      const target = `${method.toLowerCase()} ${pathname}${search}`;
      const text = names.map((name) => `${name}: ${name === '(request-target)' ? target : headers.get(name)}`).join('\n');
      const signature = (await signAsync('RSA-SHA256', Buffer.from(text), keyNow())).toString('base64');
      const fields = { version: '1', keyId, algorithm: 'rsa-sha256', headers: names.join(' '), signature };
      const parts = Object.entries(fields).map(([name, value]) => `${name}="${value}"`);
      headers.set('authorization', `Signature ${parts.join(',')}`);
    },
  };
}
