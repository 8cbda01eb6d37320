// Limits of authentication.
export const limits = {
  /** Verified service account tokens remembered, so that a signature is checked once. */
  verifiedTokensMax: 10_000,
  /** A bearer token longer than this is not looked at. */
  tokenBytesMax: 64 * 1024,
  /** Clock skew tolerated in token times (RFC 7519, leeway). */
  tokenLeewayMs: 60_000,
};
