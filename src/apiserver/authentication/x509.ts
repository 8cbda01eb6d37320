// Client certificates: CN is the user, O are the groups (k8s.io/apiserver/pkg/authentication/request/x509).
import { isSignedBy, isTrustedIssuer, type ParsedCertificate, parseCertificateDer, parseCertificates } from '#pki';
import type { Credentials, UserInfo } from '../request/request.ts';
import type { AuthenticatedUser, RequestAuthenticator } from './types.ts';
import { extraKeys } from './users.ts';

/** How deep a chain may be; Go's default is bounded by its work, ours by its length. */
const chainLengthMax = 8;

const validAt = (certificate: ParsedCertificate, nowMs: number): boolean =>
  certificate.notBefore <= nowMs && nowMs <= certificate.notAfter;

const forClients = (certificate: ParsedCertificate): boolean => {
  const usages: readonly string[] = certificate.usages;
  const extended = usages.filter((usage) => extendedUsages.has(usage));
  return extended.length === 0 || extended.includes('client auth') || extended.includes('any');
};

const extendedUsages = new Set([
  'any',
  'server auth',
  'client auth',
  'code signing',
  'email protection',
  's/mime',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'timestamping',
  'ocsp signing',
  'microsoft sgc',
  'netscape sgc',
]);

/** Whether a path leads from the leaf to one of the roots, each certificate valid now. */
function chains(
  leaf: ParsedCertificate,
  intermediates: readonly ParsedCertificate[],
  roots: readonly ParsedCertificate[],
  nowMs: number,
  depth = 0,
): boolean {
  if (!validAt(leaf, nowMs) || depth > chainLengthMax) return false;
  if (
    roots.some((root) => validAt(root, nowMs) && (root.raw.equals(leaf.raw) || (isTrustedIssuer(root) && isSignedBy(leaf, root))))
  )
    return true;
  return intermediates.some(
    (issuer) =>
      issuer !== leaf &&
      issuer.isCa &&
      isSignedBy(leaf, issuer) &&
      chains(
        issuer,
        intermediates.filter((other) => other !== issuer),
        roots,
        nowMs,
        depth + 1,
      ),
  );
}

/** Verifies presented chains against a bundle of authorities; a result is kept as long as the connection's certificate object lives. */
export interface CertificateVerifier {
  /** The verified leaf. Undefined: none presented. Throws an Error when it is not trusted. */
  verify(presented: readonly Uint8Array[] | undefined): ParsedCertificate | undefined;
}

/** `bundle` is PEM. Throws `PkiError` when it holds no certificate. */
export function createCertificateVerifier(bundle: string, now: () => number): CertificateVerifier {
  const roots = parseCertificates(bundle);
  const verified = new WeakMap<Uint8Array, ParsedCertificate>();
  return {
    verify(presented) {
      const der = presented?.[0];
      if (!presented || !der) return undefined;
      const known = verified.get(der);
      if (known && validAt(known, now())) return known;
      const [leaf, ...intermediates] = presented.map((bytes) => parseCertificateDer(Buffer.from(bytes)));
      if (!leaf) return undefined;
      if (!forClients(leaf)) throw new Error('x509: certificate specifies an incompatible key usage');
      if (!validAt(leaf, now())) throw new Error('x509: certificate has expired or is not yet valid');
      if (!chains(leaf, intermediates, roots, now())) throw new Error('x509: certificate signed by unknown authority');
      verified.set(der, leaf);
      return leaf;
    },
  };
}

/** The user of a verified certificate; undefined when it has no common name. */
export function userOfCertificate(certificate: ParsedCertificate): UserInfo | undefined {
  const { commonName, organizations } = certificate.subject;
  if (commonName === '') return undefined;
  return {
    name: commonName,
    groups: [...organizations],
    extra: { [extraKeys.credentialId]: [`X509SHA256=${certificate.fingerprint}`] },
  };
}

/** Makes the authenticator that knows users by their client certificates. */
export function createX509Authenticator(verifier: CertificateVerifier): RequestAuthenticator {
  // One user object for each certificate: later stages key their caches by it.
  const users = new WeakMap<ParsedCertificate, AuthenticatedUser>();
  return {
    authenticate({ peerCertificates }: Credentials) {
      const leaf = verifier.verify(peerCertificates);
      if (!leaf) return undefined;
      const known = users.get(leaf);
      if (known) return known;
      const user = userOfCertificate(leaf);
      if (!user) return undefined;
      const answer = { user };
      users.set(leaf, answer);
      return answer;
    },
  };
}
