// Why a connection did not come about, in Go's words: clients and conditions show them.
import { isIP } from 'node:net';
import type { PeerCertificate } from 'node:tls';

const reasons: Record<string, string> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
};

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
  if (certificate.subjectaltname === undefined) return 'certificate relies on legacy Common Name field, use SANs instead';
  const names = namesFor(host, certificate);
  if (names.length > 0) return `certificate is valid for ${names.join(', ')}, not ${host}`;
  if (isIP(host) !== 0) return `cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
  return `certificate is not valid for any names, but wanted to match ${host}`;
}

interface TlsError extends NodeJS.ErrnoException {
  /** Of a certificate with other names. */
  host?: string;
  cert?: Partial<PeerCertificate>;
}

/** Why a certificate is not trusted, if that is what the error says. */
function distrustText({ code = '', host, cert }: TlsError): string | undefined {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' && host !== undefined && cert) return otherName(host, cert);
  const verdict = distrust[code];
  return verdict === undefined ? undefined : `certificate ${verdict}`;
}

/** `host`: with its port. */
export function dialErrorText(error: unknown, host: string): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const why = reasons[code];
  if (why !== undefined) return `dial tcp ${host}: ${why}`;
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${host.replace(/:\d+$/, '')}: no such host`;
  if (code === 'ECONNRESET') return 'EOF';
  const untrusted = distrustText(error as TlsError);
  return untrusted === undefined ? message : `tls: failed to verify certificate: x509: ${untrusted}`;
}
