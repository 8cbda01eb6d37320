// Bounds of what is accepted from others before it is parsed.
export const limits = {
  /** A PEM bundle or a certificate signing request. */
  pemBytesMax: 4 * 1024 * 1024,
  /** Nesting of DER values. */
  derDepthMax: 32,
  /** A JSON Web Token, header to signature. */
  jwtBytesMax: 64 * 1024,
};
