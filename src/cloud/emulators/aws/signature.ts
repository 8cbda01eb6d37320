// Who asks: AWS Signature Version 4 (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
import { createHash, createHmac } from 'node:crypto';
import { secretsEqual } from '#pki';
import type { EmulatedRequest } from '../emulator.ts';
import { AwsError } from './errors.ts';
import { clockSkewMaxMs } from './limits.ts';

export interface AccessKey {
  id: string;
  secret: string;
}

const algorithm = 'AWS4-HMAC-SHA256';
const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();

const refused = (code: string, message: string): AwsError => new AwsError(code, message, 403);

interface Authorization {
  keyId: string;
  date: string;
  region: string;
  service: string;
  signedHeaders: string[];
  signature: string;
}

function parseAuthorization(header: string | undefined): Authorization {
  if (header === undefined) throw refused('MissingAuthenticationToken', 'Request is missing Authentication Token');
  const [, name, rest = ''] = /^(\S+)\s+(.*)$/.exec(header) ?? [];
  const fields = new Map(rest.split(',').map((part) => part.trim().split(/=(.*)/s, 2) as [string, string]));
  const [keyId, date, region, service, end] = (fields.get('Credential') ?? '').split('/');
  const signedHeaders = (fields.get('SignedHeaders') ?? '').split(';');
  const signature = fields.get('Signature') ?? '';
  if (name !== algorithm || !keyId || !date || !region || !service || end !== 'aws4_request' || !signature)
    throw refused(
      'IncompleteSignature',
      `Authorization header must be of ${algorithm}, with Credential, SignedHeaders and Signature`,
    );
  return { keyId, date, region, service, signedHeaders, signature };
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** The path as sent is encoded once; it is signed encoded twice, which for `/` is the same. */
function canonicalRequest({ method, path, headers, body }: EmulatedRequest, signedHeaders: readonly string[]): string {
  const [pathname = '/', query = ''] = path.split(/\?(.*)/s, 2);
  const parameters = [...new URLSearchParams(query)]
    .map(([key, value]) => `${encoded(key)}=${encoded(value)}`)
    .sort()
    .join('&');
  const lines = signedHeaders.map((name) => {
    const value = (Object.hasOwn(headers, name) ? headers[name] : undefined) ?? '';
    return `${name}:${(Array.isArray(value) ? value.join(',') : value).trim().replace(/ +/g, ' ')}\n`;
  });
  const uri = pathname.split('/').map(encoded).join('/');
  return [method, uri, parameters, lines.join(''), signedHeaders.join(';'), sha256(body)].join('\n');
}

/** `20260102T030405Z` in milliseconds; NaN for anything else. */
function timeOf(text: string): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** The name of the service that the request is signed for. Throws for a request that nobody with the key has made just now. */
export function verifySignature(request: EmulatedRequest, { id, secret }: AccessKey, region: string, nowMs: number): string {
  const given = parseAuthorization(request.headers.authorization);
  const timestamp = String(request.headers['x-amz-date'] ?? '');
  const timeMs = timeOf(timestamp);
  if (!Number.isFinite(timeMs) || !timestamp.startsWith(given.date))
    throw refused('IncompleteSignature', 'X-Amz-Date must be there, of the day in Credential');
  if (Math.abs(timeMs - nowMs) > clockSkewMaxMs)
    throw refused('SignatureDoesNotMatch', `Signature expired: ${timestamp} is not within five minutes of now`);
  if (!given.signedHeaders.includes('host'))
    throw refused('SignatureDoesNotMatch', "'Host' must be a 'SignedHeader' in the AWS Authorization");
  if (given.region !== region)
    throw refused('SignatureDoesNotMatch', `Credential should be scoped to a valid region, '${region}'`);
  const scope = [given.date, given.region, given.service, 'aws4_request'];
  const toSign = [algorithm, timestamp, scope.join('/'), sha256(canonicalRequest(request, given.signedHeaders))].join('\n');
  const key = scope.reduce<string | Buffer>((made, part) => hmac(made, part), `AWS4${secret}`);
  const signature = createHmac('sha256', key).update(toSign).digest('hex');
  // Of both, so that the time tells nothing of the key's id.
  const [rightKey, rightSignature] = [secretsEqual(given.keyId, id), secretsEqual(given.signature, signature)];
  if (!rightKey) throw refused('InvalidClientTokenId', 'The security token included in the request is invalid.');
  if (!rightSignature)
    throw refused(
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.',
    );
  return given.service;
}
