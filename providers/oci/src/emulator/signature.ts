// Checks signatures of requests (https://docs.oracle.com/iaas/Content/API/Concepts/signingrequests.htm, draft-cavage-http-signatures-08).
import { createHash, createVerify, type KeyObject } from 'node:crypto';
import type { VendorRequest } from 'sagong/cloud-provider/test-server';
import { notAuthenticated } from './refusals.ts';

const skewMaxMs = 300_000;
const withBody = ['POST', 'PUT', 'PATCH'];

const fieldsIn = (header: string): Record<string, string> =>
  Object.fromEntries([...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));

function checkHeaders(request: VendorRequest, signed: readonly string[], nowMs: number): void {
  const date = signed.includes('x-date') ? 'x-date' : 'date';
  const needed = [date, '(request-target)', 'host'];
  if (withBody.includes(request.method)) needed.push('content-length', 'content-type', 'x-content-sha256');
  const missing = needed.find((name) => !signed.includes(name));
  if (missing !== undefined) throw notAuthenticated(`${missing} is not signed`);
  const skewMs = Math.abs(nowMs - Date.parse(request.headers[date] ?? ''));
  if (!(skewMs <= skewMaxMs)) throw notAuthenticated(`${date} is not near the time of the server`);
}

/** Whether the body is the one whose digest is signed. */
export function checkBody({ method, headers, bytes }: VendorRequest): void {
  if (!withBody.includes(method)) return;
  const digest = createHash('sha256').update(bytes).digest('base64');
  if (headers['x-content-sha256'] !== digest) throw notAuthenticated('x-content-sha256 is not that of the body');
  if (Number(headers['content-length'] ?? 0) !== bytes.length) throw notAuthenticated('content-length is not that of the body');
}

/** `keyOf`: the public key by the key ID, `<tenancy>/<user>/<fingerprint>` or `ST$<token>`. */
export function checkSignature(request: VendorRequest, keyOf: (keyId: string) => KeyObject | undefined, nowMs: number): void {
  const header = request.headers['authorization'] ?? '';
  if (!header.startsWith('Signature ')) throw notAuthenticated('there is no signature');
  const { version, keyId = '', algorithm, headers = 'date', signature = '' } = fieldsIn(header);
  if (version !== '1' || algorithm !== 'rsa-sha256') throw notAuthenticated('version or algorithm is not supported');
  const key = keyOf(keyId);
  if (!key) throw notAuthenticated(`the key ${keyId} is not known`);
  const signed = headers.toLowerCase().split(' ');
  checkHeaders(request, signed, nowMs);
  const target = `${request.method.toLowerCase()} ${request.url.pathname}${request.url.search}`;
  const text = signed
    .map((name) => `${name}: ${name === '(request-target)' ? target : (request.headers[name] ?? '')}`)
    .join('\n');
  if (!createVerify('RSA-SHA256').update(text).verify(key, signature, 'base64')) throw notAuthenticated('the signature is wrong');
}
