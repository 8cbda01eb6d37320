// Limits of authentication.
export const limits = {
  /** Verified service account tokens remembered, so that a signature is checked once. */
  verifiedTokensMax: 10_000,
  /** A bearer token longer than this is not looked at. */
  tokenBytesMax: 64 * 1024,
  /** Clock skew tolerated in token times (RFC 7519, leeway). */
  tokenLeewayMs: 60_000,
  /** Issuers of an AuthenticationConfiguration. */
  jwtAuthenticatorsMax: 64,
  /** Before an issuer that could not be reached is asked again. */
  issuerRetryMs: 10_000,
  /** How long an issuer may take to answer, and how much it may say. */
  issuerTimeoutMs: 30_000,
  issuerAnswerBytesMax: 1024 * 1024,
  /** How often an issuer's answer may lead to another address, as Go's client follows. */
  issuerRedirectsMax: 10,
  /** Tokens with unknown keys have an issuer's keys read again, so often at most within that time. */
  keyReadsMax: 10,
  keyReadsWindowMs: 10_000,
  /** How far in the future a token may begin. */
  notBeforeLeewayMs: 60_000,
  /** Answers of authenticators that had to compute or ask are remembered: how many, and how long. */
  rememberedTokensMax: 4096,
  rememberTokenMs: 10_000,
  /** How much a token webhook may say. */
  webhookAnswerBytesMax: 1024 * 1024,
};
