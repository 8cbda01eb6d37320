// Signatures of requests, bce-auth-v1 (https://cloud.baidu.com/doc/Reference/s/njwvz1yfu). Pure.
import { createHmac } from 'node:crypto';

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Comes with temporary credentials from STS. */
  sessionToken?: string;
}

export interface SignedParts {
  method: string;
  url: URL;
  /** By lower-case name; those in `signed` are covered by the signature. */
  headers: Readonly<Record<string, string>>;
  signed: readonly string[];
}

/** What begins the header Authorization: version, key, time and seconds of validity. */
export const authPrefix = (accessKeyId: string, timestamp: string, expireSeconds: number): string =>
  `bce-auth-v1/${accessKeyId}/${timestamp}/${expireSeconds}`;

/** Every octet but unreserved characters (RFC 3986, 2.3) as %XX. */
export const uriEncoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

const hmac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('hex');

const pathOf = ({ pathname }: URL): string =>
  pathname
    .split('/')
    .map((part) => uriEncoded(decodeURIComponent(part)))
    .join('/');

const queryOf = ({ searchParams }: URL): string =>
  [...searchParams]
    .filter(([name]) => name.toLowerCase() !== 'authorization')
    .map(([name, value]) => `${uriEncoded(name)}=${uriEncoded(value)}`)
    .sort()
    .join('&');

const headersOf = ({ headers, signed }: SignedParts): string =>
  signed
    .flatMap((name) => {
      const value = headers[name]?.trim();
      return value ? [`${uriEncoded(name)}:${uriEncoded(value)}`] : [];
    })
    .sort()
    .join('\n');

/** The signature of a request under a prefix. */
export function signatureOf(parts: SignedParts, prefix: string, secretAccessKey: string): string {
  const canonical = [parts.method, pathOf(parts.url), queryOf(parts.url), headersOf(parts)].join('\n');
  return hmac(hmac(secretAccessKey, prefix), canonical);
}

export interface SigningRequest {
  method: string;
  url: URL;
  atMs: number;
  expireSeconds: number;
}

/** The headers that a signed request carries. */
export function signedHeaders(request: SigningRequest, credentials: Credentials): Record<string, string> {
  const { method, url, atMs, expireSeconds } = request;
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const timestamp = new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const own = { 'x-bce-date': timestamp, ...(sessionToken && { 'x-bce-security-token': sessionToken }) };
  const signed = ['host', ...Object.keys(own)];
  const prefix = authPrefix(accessKeyId, timestamp, expireSeconds);
  const signature = signatureOf({ method, url, headers: { ...own, host: url.host }, signed }, prefix, secretAccessKey);
  return { ...own, authorization: `${prefix}/${signed.join(';')}/${signature}` };
}
