// Who is asking (https://kubernetes.io/docs/reference/access-authn-authz/authentication/).
export {
  type AnonymousAccess,
  type Authentication,
  type AuthenticationOptions,
  audienceAgnostic,
  createAuthentication,
} from './authenticator.ts';
export { createBootstrapTokenAuthenticator } from './bootstrap-token.ts';
export type { RequestHeaderOptions } from './request-header.ts';
export { createServiceAccountAuthenticator, type ServiceAccountTokenOptions } from './service-account.ts';
export { createStaticTokenAuthenticator, parseTokenFile } from './token-file.ts';
export { loopbackUser } from './users.ts';
export { type CertificateVerifier, createCertificateVerifier } from './x509.ts';
