// Certificates, keys and tokens of a cluster, over node:crypto alone and synchronous: a few milliseconds for a whole control plane.
export { PkiError } from './errors.ts';
export { sha256Hex } from './digest.ts';
export { encodePem, findPem, type PemBlock, parsePem } from './pem.ts';
export { isKeyOf, keyId, parsePrivateKey, parsePublicKeys, privateKeyPem, publicKeyDer, publicKeyPem } from './keys.ts';
export { generateKeyPair, type KeyAlgorithm, type KeyPair } from './key-pair.ts';
export type { ExtendedKeyUsage, KeyUsage, Usage } from './certificates/extensions.ts';
export type { AlternativeNames, DistinguishedName } from './certificates/names.ts';
export {
  type CertificateAndKey,
  type CertificateAuthority,
  type CertificateAuthorityOptions,
  createCertificateAuthority,
  type IssueOptions,
  issueCertificate,
  issueCertificateForKey,
  loadCertificateAuthority,
  type SubjectOptions,
} from './certificates/issue.ts';
export {
  isSignedBy,
  isTrustedIssuer,
  type ParsedCertificate,
  parseCertificate,
  parseCertificateDer,
  parseCertificates,
} from './certificates/parse.ts';
export { type CertificateRequest, createCertificateRequest, parseCertificateRequest } from './certificates/request.ts';
export {
  type DecodedJwt,
  decodeJwt,
  exportJwks,
  type JwtClaims,
  type JwtHeader,
  type JwtSigner,
  jwtAlgorithm,
  jwtKey,
  jwtSigner,
  signJwt,
  verifyJwt,
} from './tokens/jwt.ts';
export { detachedJws } from './tokens/detached-jws.ts';
export { secretsEqual } from './tokens/compare.ts';
export { bootstrapToken, randomString, randomToken } from './tokens/random.ts';
export { type VerifyOptions, verifyCertificate } from './certificates/verify.ts';
