// The certificate a client presented. Decoding happens once per connection, whatever the number of its requests.
import type { TLSSocket } from 'node:tls';
import { type DistinguishedName, type ParsedCertificate, parseCertificateDer } from '#pki';

export interface PeerCertificate {
  subject: DistinguishedName;
  /** Hexadecimal SHA-256 of the certificate. */
  fingerprint: string;
  /** It chains to one of the server's client authorities and was in its validity at the handshake. */
  authorized: boolean;
  /** OpenSSL's reason when not. */
  authorizationError: string | undefined;
  certificate: ParsedCertificate;
}

const known = new WeakMap<TLSSocket, PeerCertificate | null>();

function read(socket: TLSSocket): PeerCertificate | null {
  const raw = socket.getPeerX509Certificate?.()?.raw;
  if (raw === undefined) return null;
  try {
    const certificate = parseCertificateDer(raw);
    const authorizationError = socket.authorized ? undefined : String(socket.authorizationError ?? 'not authorized');
    return {
      subject: certificate.subject,
      fingerprint: certificate.fingerprint,
      authorized: socket.authorized,
      authorizationError,
      certificate,
    };
  } catch {
    return null;
  }
}

/** What the client of this connection presented, or undefined. A certificate we cannot read counts as none. */
export function peerCertificateOf(socket: unknown): PeerCertificate | undefined {
  const tls = socket as TLSSocket | undefined;
  if (tls?.encrypted !== true) return undefined;
  let peer = known.get(tls);
  if (peer === undefined) {
    peer = read(tls);
    known.set(tls, peer);
  }
  return peer ?? undefined;
}
