// Who asks: signatures of bce-auth-v1 (https://cloud.baidu.com/doc/Reference/s/njwvz1yfu), made again from what came.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { VendorRequest } from 'sagong/cloud-provider/test-server';
import type { Credentials } from '../api/sign.ts';
import { denied } from './refusals.ts';

const hmac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('hex');

/** Octet by octet, by the table of the reference. */
function encoded(text: string, keepSlash = false): string {
  let out = '';
  for (const octet of Buffer.from(text)) {
    const character = String.fromCharCode(octet);
    const keeps = /[A-Za-z0-9\-._~]/.test(character) || (keepSlash && character === '/');
    out += keeps ? character : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return out;
}

/** Covered when nobody names others. */
const usual = ['host', 'content-length', 'content-type', 'content-md5'];
const skewMs = 900_000;

function canonical({ method, url, headers }: VendorRequest, signed: readonly string[]): string {
  const query = [...url.searchParams].map(([name, value]) => `${encoded(name)}=${encoded(value)}`).sort();
  const lines = signed.flatMap((name) => {
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
    return value ? [`${encoded(name)}:${encoded(value.trim())}`] : [];
  });
  return [method, encoded(decodeURIComponent(url.pathname), true), query.join('&'), lines.sort().join('\n')].join('\n');
}

/** Throws for a request that none of these credentials signed. */
export function checkSignature(request: VendorRequest, all: readonly Credentials[], nowMs: number): void {
  const { headers } = request;
  const [version, key = '', timestamp = '', seconds = '', names = '', signature = '', ...rest] = (
    headers['authorization'] ?? ''
  ).split('/');
  if (version !== 'bce-auth-v1' || rest.length > 0 || !/^[0-9a-f]{64}$/.test(signature))
    throw denied('InvalidHTTPAuthHeader', 'The HTTP authorization header is invalid.', 400);
  const credentials = all.find(({ accessKeyId }) => accessKeyId === key);
  if (!credentials) throw denied('InvalidAccessKeyId', 'The Access Key ID you provided does not exist in our records.');
  if ((credentials.sessionToken ?? '') !== (headers['x-bce-security-token'] ?? ''))
    throw denied('InvalidSessionToken', 'The session token is not that of the Access Key ID.');
  const atMs = Date.parse(timestamp);
  if (!Number.isFinite(atMs) || nowMs > atMs + Number(seconds) * 1_000 || atMs > nowMs + skewMs)
    throw denied('RequestExpired', 'Request has expired.', 400);
  const chosen = names === '' ? usual : names.split(';');
  const vendors = Object.keys(headers).filter((name) => name.startsWith('x-bce-') && name !== 'x-bce-request-id');
  if (!chosen.includes('host') || (names !== '' && vendors.some((name) => !chosen.includes(name))))
    throw denied('InvalidHTTPAuthHeader', 'Host and the headers x-bce-* must be signed.', 400);
  const signed = names === '' ? [...chosen, ...vendors] : chosen;
  const signingKey = hmac(credentials.secretAccessKey, [version, key, timestamp, seconds].join('/'));
  const wanted = hmac(signingKey, canonical(request, signed));
  if (!timingSafeEqual(Buffer.from(wanted), Buffer.from(signature)))
    throw denied('SignatureDoesNotMatch', 'The request signature we calculated does not match the one you provided.', 400);
}
