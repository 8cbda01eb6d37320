// What certificate requests ask for, and which requests each built-in signer takes (pkg/apis/certificates;
// https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#kubernetes-signers). Pure.
import type { CertificateSigningRequest } from '#api/certificates/v1';
import { decodeBase64 } from '#apimachinery/schema';
import type { Plan } from '#controller-runtime';
import { certificateSigningRequests } from '#controller-runtime/platform';
import { type CertificateRequest, parseCertificateRequest, PkiError } from '#pki';

type Csr = CertificateSigningRequest;

export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving';
export const clientSigner = 'kubernetes.io/kube-apiserver-client';
export const legacySigner = 'kubernetes.io/legacy-unknown';
export const builtInSigners: readonly string[] = [kubeletServingSigner, kubeletClientSigner, clientSigner, legacySigner];

const text = new TextDecoder();

/** The PEM text in a `[]byte` field, which JSON carries as base64. */
export function pemOf(base64 = ''): string {
  const bytes = decodeBase64(base64);
  return 'corruptAt' in bytes ? '' : text.decode(bytes);
}

export const hasCondition = ({ status }: Csr, type: string): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === type && condition.status !== 'False');

/** The effect that changes these fields of the status. */
export const withStatus = (request: Csr, status: Csr['status']): Plan['effects'] => {
  const object: Csr = { ...request, status: { ...request.status, ...status } };
  return [{ op: 'update', resource: certificateSigningRequests, subresource: 'status', object }];
};

export const isIssued = ({ status }: Csr): boolean => (status?.certificate ?? '') !== '';

/** The request, or why it cannot be read. */
export function readRequest({ metadata, spec }: Csr): CertificateRequest | string {
  try {
    return parseCertificateRequest(pemOf(spec.request));
  } catch (error) {
    if (error instanceof PkiError) return `unable to parse csr "${metadata.name}": ${error.message}`;
    throw error;
  }
}

const equal = (usages: readonly string[], wanted: readonly string[]): boolean =>
  new Set(usages).size === wanted.length && wanted.every((one) => usages.includes(one));

function usagesProblem(usages: readonly string[], purpose: string): string | undefined {
  const all = ['digital signature', 'key encipherment', purpose];
  // Keys other than RSA encipher nothing.
  if (equal(usages, all) || equal(usages, ['digital signature', purpose])) return undefined;
  return `usages did not match [${all.sort().join(' ')}]`;
}

const isNodes = ({ subject }: CertificateRequest): boolean =>
  subject.organizations.length === 1 && subject.organizations[0] === 'system:nodes';
const nodesOnly = 'subject organization is not system:nodes';
const nodeName = ({ subject }: CertificateRequest): string | undefined =>
  subject.commonName.startsWith('system:node:') ? undefined : 'subject common name does not begin with system:node:';

export function kubeletServingProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  if (!isNodes(request)) return nodesOnly;
  if (request.dnsNames.length === 0 && request.ips.length === 0) return 'DNS or IP subjectAltName is required';
  if (request.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return usagesProblem(usages, 'server auth') ?? nodeName(request);
}

export function kubeletClientProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  if (!isNodes(request)) return nodesOnly;
  if (request.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed';
  if (request.emails.length > 0) return 'Email subjectAltNames are not allowed';
  if (request.ips.length > 0) return 'IP subjectAltNames are not allowed';
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed';
  return usagesProblem(usages, 'client auth') ?? nodeName(request);
}

function clientProblem(usages: readonly string[]): string | undefined {
  const wrong = usages.find((usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage));
  if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}

/** Why the signer of its name will not sign a request. */
export function signerProblem(signerName: string, request: CertificateRequest, usages: readonly string[]): string | undefined {
  if (signerName === kubeletServingSigner) return kubeletServingProblem(request, usages);
  if (signerName === kubeletClientSigner) return kubeletClientProblem(request, usages);
  return signerName === clientSigner ? clientProblem(usages) : undefined;
}
