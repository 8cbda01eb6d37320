// Whether the certificate of a server is for the name that was asked for, and why one is not trusted, as Go has it and in its words (crypto/x509).
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';

const commonNameAlone = 'certificate relies on legacy Common Name field, use SANs instead';
/** What Node calls the error of a certificate with other names. */
const otherNames = 'ERR_TLS_CERT_ALTNAME_INVALID';
const [unknownAuthority, outOfTime] = ['signed by unknown authority', 'has expired or is not yet valid'];

/** OpenSSL's verdicts on a certificate. */
const distrust: Record<string, string> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  CERT_HAS_EXPIRED: outOfTime,
  CERT_NOT_YET_VALID: outOfTime,
};

/** The names of a certificate that are of the kind of `host`, an address or a name. */
function namesFor(host: string, { subjectaltname = '' }: Partial<PeerCertificate>): string[] {
  const kind = isIP(host) === 0 ? 'DNS:' : 'IP Address:';
  const names = subjectaltname.split(', ').filter((name) => name.startsWith(kind));
  return names.map((name) => name.slice(kind.length));
}

function otherName(host: string, certificate: Partial<PeerCertificate>): string {
  if (certificate.subjectaltname === undefined) return commonNameAlone;
  const names = namesFor(host, certificate);
  if (names.length > 0) return `certificate is valid for ${names.join(', ')}, not ${host}`;
  if (isIP(host) !== 0) return `cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
  return `certificate is not valid for any names, but wanted to match ${host}`;
}

interface TlsError extends NodeJS.ErrnoException {
  /** The host that was wanted, where the certificate has other names. */
  host?: string;
  cert?: Partial<PeerCertificate>;
}

/** Why the certificate of a server is not trusted, if that is why a connection failed. */
export function distrustText(error: unknown): string | undefined {
  const { code = '', host, cert } = error as TlsError;
  if (code === otherNames && host !== undefined && cert) return otherName(host, cert);
  const verdict = distrust[code];
  return verdict === undefined ? undefined : `certificate ${verdict}`;
}

/** Go has no use for a common name: a certificate without other names is for nobody. */
export function identityError(host: string, cert: PeerCertificate): Error | undefined {
  if (cert.subjectaltname !== undefined) return checkServerIdentity(host, cert);
  return Object.assign(new Error(commonNameAlone), { code: otherNames, host, cert });
}
