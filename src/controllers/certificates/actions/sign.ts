// The shell of the signing loop: makes the certificate of a request with the signer's key. Which requests get one is decided in signer.ts.
import type { CertificateSigningRequest } from '#api/certificates/v1';
import { formatTime } from '#apimachinery/meta';
import { encodeBase64 } from '#apimachinery/schema';
import { action, type ControllerDefinition } from '#controller-runtime';
import { type CertificateRequest, issueCertificateForKey, loadCertificateAuthority, type Usage } from '#pki';
import type { ClusterSigner } from '../../config.ts';
import { builtInSigners, readRequest, withStatus } from '../request.ts';

const minuteMs = 60_000;
/** How long before now certificates become valid, for machines whose clocks are behind. */
const backdateMs = 5 * minuteMs;
/** Certificates that live less long are given the whole time. */
const shortMs = 8 * 60 * minuteMs;
const durationMinMs = 10 * minuteMs;

export const sign = action<CertificateSigningRequest>('sign');

/** Validity of a certificate signed now. Throws when the authority's own is over. */
function validity(expirationSeconds: number | undefined, maxMs: number, authorityEndMs: number, now: number) {
  const asked = expirationSeconds === undefined ? maxMs : Math.max(durationMinMs, expirationSeconds * 1000);
  const ttlMs = Math.min(maxMs, asked);
  const notBefore = now - backdateMs;
  if (now >= authorityEndMs) throw new Error(`the signer has expired: NotAfter=${formatTime(authorityEndMs)}`);
  return { notBefore, notAfter: Math.min(authorityEndMs, ttlMs < shortMs ? now + ttlMs : now + ttlMs - backdateMs) };
}

/** The authority that signs for a signer; undefined where there is none. */
export type SignerOf = (name: string) => ClusterSigner | undefined;

/** The work of `sign`: authorities are read once. */
export function signing(signerOf: SignerOf): NonNullable<ControllerDefinition['actions']> {
  const loaded = new Map<string, { ca: ReturnType<typeof loadCertificateAuthority>; durationMs: number }>();
  for (const name of builtInSigners) {
    const signer = signerOf(name);
    if (signer) loaded.set(name, { ca: loadCertificateAuthority(signer), durationMs: signer.durationMs });
  }
  return ({ clock }) => [
    sign.by((request) => {
      const own = loaded.get(request.spec.signerName);
      if (!own) return Promise.resolve({ effects: [] });
      const { ca, durationMs } = own;
      const { subject, publicKey, dnsNames, ips, emails, uris } = readRequest(request) as CertificateRequest;
      const times = validity(request.spec.expirationSeconds, durationMs, ca.certificate.notAfter, clock.now());
      const pem = issueCertificateForKey({
        ca,
        commonName: subject.commonName,
        organizations: subject.organizations,
        ...{ dnsNames, ips, emails, uris, publicKey, clock },
        usages: (request.spec.usages ?? []) as Usage[],
        ...times,
      });
      return Promise.resolve({ effects: withStatus(request, { certificate: encodeBase64(new TextEncoder().encode(pem)) }) });
    }),
  ];
}
