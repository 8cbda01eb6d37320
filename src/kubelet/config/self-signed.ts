// A serving certificate for a kubelet that has none configured, as upstream makes one at start.
import { createCertificateAuthority, issueCertificate } from '#pki';

export function issueSelfSigned(nodeName: string, ips: readonly string[]): { cert: string; key: string } {
  const ca = createCertificateAuthority({ commonName: `${nodeName}-ca` });
  const { cert, key } = issueCertificate({
    ca,
    commonName: nodeName,
    dnsNames: [nodeName],
    ips: [...ips],
    usages: ['server auth'],
  });
  return { cert: cert + ca.cert, key };
}
