// What the rules of certificate signing requests ask about PEM (k8s.io/kubernetes/pkg/apis/certificates/validation, validateCSR and
// validateCertificate).
import type { CertificateReaders } from '#api';
import { parseCertificateDer, parseCertificateRequest, parsePem, PkiError } from '#pki';
import { quote } from '#utils';

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('latin1');

/** The message of a `PkiError`, or undefined when nothing is wrong. */
function problemOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof PkiError) return error.message;
    throw error;
  }
}

export const certificateReaders: CertificateReaders = {
  requestProblem(request) {
    const pem = decoded(request);
    if (parsePem(pem)[0]?.label !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
    return problemOf(() => parseCertificateRequest(pem));
  },
  certificatesProblem(certificates) {
    const blocks = parsePem(decoded(certificates));
    for (const { label, bytes } of blocks) {
      if (label !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${quote(label)}`;
      const problem = problemOf(() => parseCertificateDer(bytes));
      if (problem !== undefined) return problem;
    }
    return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
  },
};
