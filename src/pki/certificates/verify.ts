// Does a presented certificate chain to authorities we trust, now, for this usage (crypto/x509 Certificate.Verify)? The TLS layer knows only
// one pool; authenticators that each have their own (client CA, request-header CA) ask here.
import type { Usage } from './extensions.ts';
import { isSignedBy, isTrustedIssuer, type ParsedCertificate } from './parse.ts';

export interface VerifyOptions {
  roots: readonly ParsedCertificate[];
  intermediates?: readonly ParsedCertificate[];
  /** Unix milliseconds. */
  now: number;
  /** One that the certificate must allow; 'any' in it, or no extended usage at all, allows everything. */
  usage?: Usage;
}

const chainLengthMax = 8;
const keyUsages = new Set([
  'signing',
  'digital signature',
  'content commitment',
  'key encipherment',
  'key agreement',
  'data encipherment',
  'cert sign',
  'crl sign',
]);

/** RFC 3339 with seconds, as Go prints times in these errors. */
const timeText = (unixMs: number): string => new Date(unixMs).toISOString().replace(/\.\d+Z$/, 'Z');

function validityProblem(certificate: ParsedCertificate, now: number): string | undefined {
  const expired = 'x509: certificate has expired or is not yet valid: current time';
  if (now < certificate.notBefore) return `${expired} ${timeText(now)} is before ${timeText(certificate.notBefore)}`;
  if (now > certificate.notAfter) return `${expired} ${timeText(now)} is after ${timeText(certificate.notAfter)}`;
  return undefined;
}

function chainProblem(certificate: ParsedCertificate, options: VerifyOptions, depth: number): string | undefined {
  const invalid = validityProblem(certificate, options.now);
  if (invalid !== undefined) return invalid;
  if (options.roots.some((root) => root.raw.equals(certificate.raw))) return undefined;
  let problem = 'x509: certificate signed by unknown authority';
  if (depth >= chainLengthMax) return problem;
  const between = (options.intermediates ?? []).filter(({ isCa }) => isCa);
  for (const issuer of [...options.roots.filter(isTrustedIssuer), ...between]) {
    if (issuer.raw.equals(certificate.raw) || !isSignedBy(certificate, issuer)) continue;
    const above = chainProblem(issuer, options, depth + 1);
    if (above === undefined) return undefined;
    problem = above;
  }
  return problem;
}

/** Why a certificate is not good, in Go's words; undefined when it is. Malformed signatures throw `PkiError`. */
export function verifyCertificate(certificate: ParsedCertificate, options: VerifyOptions): string | undefined {
  const extended = certificate.usages.filter((usage) => !keyUsages.has(usage));
  const { usage } = options;
  if (usage !== undefined && extended.length > 0 && !extended.includes('any') && !certificate.usages.includes(usage)) {
    return 'x509: certificate specifies an incompatible key usage';
  }
  return chainProblem(certificate, options, 0);
}
