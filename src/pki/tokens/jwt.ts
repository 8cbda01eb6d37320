// JSON Web Tokens (RFC 7519) for service accounts: ES256 and RS256 by the key at hand, `kid` as upstream computes it.
import { type KeyObject, sign, verify } from 'node:crypto';
import { PkiError } from '../errors.ts';
import { keyId } from '../keys.ts';
import { limits } from '../limits.ts';

export type JwtClaims = Record<string, unknown>;
type JwtAlgorithm = 'ES256' | 'ES384' | 'ES512' | 'RS256';

export interface JwtHeader {
  alg: string;
  kid?: string;
  typ?: string;
}

const hashes: Record<JwtAlgorithm, string> = { ES256: 'sha256', ES384: 'sha384', ES512: 'sha512', RS256: 'sha256' };
const curveAlgorithms: Record<string, JwtAlgorithm> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

/** The algorithm this key signs with. Throws `PkiError` for other kinds of keys. */
export function jwtAlgorithm(key: KeyObject): JwtAlgorithm {
  if (key.asymmetricKeyType === 'rsa') return 'RS256';
  const algorithm = curveAlgorithms[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (algorithm === undefined) throw new PkiError(`unsupported key type ${key.asymmetricKeyType} for signing tokens`);
  return algorithm;
}

const encodePart = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const signingKey = (key: KeyObject): { key: KeyObject; dsaEncoding: 'ieee-p1363' } => ({ key, dsaEncoding: 'ieee-p1363' });

export interface JwtSigner {
  readonly keyId: string;
  sign(claims: JwtClaims): string;
}

/** Makes what signs with one private key; `publicKey` gives the `kid`. */
export function jwtSigner(privateKey: KeyObject, publicKey: KeyObject): JwtSigner {
  const alg = jwtAlgorithm(privateKey);
  const kid = keyId(publicKey);
  const header = encodePart({ alg, kid });
  return {
    keyId: kid,
    sign(claims) {
      const input = `${header}.${encodePart(claims)}`;
      return `${input}.${sign(hashes[alg], Buffer.from(input), signingKey(privateKey)).toString('base64url')}`;
    },
  };
}

/** One token signed; use `jwtSigner` for many. */
export const signJwt = (claims: JwtClaims, privateKey: KeyObject, publicKey: KeyObject): string =>
  jwtSigner(privateKey, publicKey).sign(claims);

function decodePart(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new PkiError('malformed token');
  return value as Record<string, unknown>;
}

export interface DecodedJwt {
  header: JwtHeader;
  claims: JwtClaims;
}

/** The parts of a token WITHOUT any verification: to look at `iss` before choosing keys. Throws `PkiError`. */
export function decodeJwt(token: string): DecodedJwt {
  const parts = token.split('.');
  if (token.length > limits.jwtBytesMax || parts.length !== 3) throw new PkiError('malformed token');
  const header = decodePart(parts[0] as string);
  if (typeof header.alg !== 'string') throw new PkiError('malformed token');
  return { header: header as unknown as JwtHeader, claims: decodePart(parts[1] as string) };
}

/**
 * Checks the signature against the keys and returns the claims; expiry, issuer and audience are the caller's to check. A `kid` that names one
 * of the keys limits the search to it. The algorithm must be the one the key would sign with, whatever the header says.
 */
export function verifyJwt(token: string, publicKeys: readonly { key: KeyObject; kid: string }[]): DecodedJwt {
  const decoded = decodeJwt(token);
  const { alg, kid } = decoded.header;
  const split = token.lastIndexOf('.');
  const input = Buffer.from(token.slice(0, split));
  const signature = Buffer.from(token.slice(split + 1), 'base64url');
  const named = publicKeys.filter((candidate) => candidate.kid === kid);
  for (const { key } of named.length > 0 ? named : publicKeys) {
    if (jwtAlgorithm(key) === alg && verify(hashes[alg as JwtAlgorithm], input, signingKey(key), signature)) return decoded;
  }
  throw new PkiError('go-jose/go-jose: error in cryptographic primitive');
}

/** A public key with the id that tokens name it by. */
export const jwtKey = (key: KeyObject): { key: KeyObject; kid: string } => ({ key, kid: keyId(key) });

/** The keys as a JSON Web Key Set (RFC 7517), as `/openid/v1/jwks` serves it. */
export function exportJwks(publicKeys: readonly KeyObject[]): { keys: Record<string, unknown>[] } {
  const keys = publicKeys.map((key) => {
    const { kty, ...members } = key.export({ format: 'jwk' });
    return {
      use: 'sig',
      kty,
      kid: keyId(key),
      ...(members.crv !== undefined && { crv: members.crv }),
      alg: jwtAlgorithm(key),
      ...members,
    };
  });
  return { keys };
}
