// Who is asking (https://kubernetes.io/docs/reference/access-authn-authz/authentication/).
export {
  type AnonymousAccess,
  type Authentication,
  type AuthenticationOptions,
  audienceAgnostic,
  createAuthentication,
} from './authenticator.ts';
export { createBootstrapTokenAuthenticator } from './bootstrap-token.ts';
export { createJwtAuthenticators, type JwtAuthenticators } from './jwt/authenticator.ts';
export {
  type AuthenticationConfiguration,
  checkAuthentication,
  type JwtConfiguration,
  parseAuthenticationConfiguration,
} from './jwt/configuration.ts';
export { checkAlgorithms, signingAlgorithms } from './jwt/validation.ts';
export type { RequestHeaderOptions } from './request-header.ts';
export { createServiceAccountAuthenticator, type ServiceAccountTokenOptions } from './service-account.ts';
export { createStaticTokenAuthenticator, parseTokenFile } from './token-file.ts';
export { rememberTokens } from './token-cache.ts';
export { createTokenWebhook, tokenReviewVersions } from './token-webhook.ts';
export type { TokenAuthenticator } from './types.ts';
export { loopbackUser } from './users.ts';
export { type CertificateVerifier, createCertificateVerifier } from './x509.ts';
import { limits } from './limits.ts';

export const { rememberTokenMs } = limits;
