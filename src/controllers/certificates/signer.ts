// Signs approved requests for the built-in signers with the cluster's authority (pkg/controller/certificates/signer).
import type { CertificateSigningRequest } from '#api/certificates/v1';
import { formatTime } from '#apimachinery/meta';
import { encodeBase64 } from '#apimachinery/schema';
import { action, type ControllerDefinition, defineController, ownKey, type Plan, watch } from '#controller-runtime';
import { certificateSigningRequests } from '#controller-runtime/platform';
import { type CertificateRequest, issueCertificateForKey, loadCertificateAuthority, type Usage } from '#pki';
import type { ClusterSigner, ControllersConfig } from '../config.ts';
import {
  clientSigner,
  hasCondition,
  isIssued,
  kubeletClientSigner,
  kubeletServingSigner,
  legacySigner,
  readRequest,
  signerProblem,
} from './request.ts';
import { rights, serviceAccount } from './rights.ts';

type Csr = CertificateSigningRequest;

const signers = [kubeletServingSigner, kubeletClientSigner, clientSigner, legacySigner];
const minuteMs = 60_000;
/** How long before now certificates become valid, for machines whose clocks are behind. */
const backdateMs = 5 * minuteMs;
/** Certificates that live less long are given the whole time. */
const shortMs = 8 * 60 * minuteMs;
const durationMinMs = 10 * minuteMs;

const sign = action<Csr>('sign');

export interface SigningView {
  request: Csr | undefined;
}

const withStatus = (request: Csr, status: Csr['status']): Plan['effects'] => {
  const object: Csr = { ...request, status: { ...request.status, ...status } };
  return [{ op: 'update', resource: certificateSigningRequests, subresource: 'status', object }];
};

/** Decides whether a request is signed now. */
export function reconcileSigning({ request }: SigningView, now: number): Plan {
  if (!request || isIssued(request) || !hasCondition(request, 'Approved') || hasCondition(request, 'Denied'))
    return { effects: [] };
  if (hasCondition(request, 'Failed') || !signers.includes(request.spec.signerName)) return { effects: [] };
  const parsed = readRequest(request);
  if (typeof parsed === 'string') return { effects: [], failure: parsed };
  const problem = signerProblem(request.spec.signerName, parsed, request.spec.usages ?? []);
  if (problem !== undefined) {
    const failed = {
      type: 'Failed',
      status: 'True',
      reason: 'SignerValidationFailure',
      message: problem,
      lastUpdateTime: formatTime(now),
    };
    const conditions = [...(request.status?.conditions ?? []), failed];
    return { effects: withStatus(request, { conditions }), because: `The signer does not take it: ${problem}.` };
  }
  return { effects: [sign.on(request)], because: 'It is approved, so it is signed.' };
}

/** Validity of a certificate signed now. Throws when the authority's own is over. */
export function validity(expirationSeconds: number | undefined, maxMs: number, authorityEndMs: number, now: number) {
  const asked = expirationSeconds === undefined ? maxMs : Math.max(durationMinMs, expirationSeconds * 1000);
  const ttlMs = Math.min(maxMs, asked);
  const notBefore = now - backdateMs;
  if (now >= authorityEndMs) throw new Error(`the signer has expired: NotAfter=${formatTime(authorityEndMs)}`);
  return { notBefore, notAfter: Math.min(authorityEndMs, ttlMs < shortMs ? now + ttlMs : now + ttlMs - backdateMs) };
}

type SignerOf = (name: string) => ClusterSigner | undefined;

function signing(signerOf: SignerOf): NonNullable<ControllerDefinition['actions']> {
  const loaded = new Map<string, { ca: ReturnType<typeof loadCertificateAuthority>; durationMs: number }>();
  for (const name of signers) {
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

/** Makes the loop that signs. A signer without an authority signs nothing. */
export const csrSigningController = ({
  clusterSigning,
  clusterSigners,
}: Pick<ControllersConfig, 'clusterSigning' | 'clusterSigners'>): ControllerDefinition => {
  const signerOf: SignerOf = (name) => clusterSigners?.[name] ?? clusterSigning;
  return defineController<SigningView>({
    name: 'certificatesigningrequest-signing-controller',
    aliases: ['csrsigning'],
    for: certificateSigningRequests,
    serviceAccount,
    rights,
    watches: [
      watch<Csr>({
        resource: certificateSigningRequests,
        keys: (request) => (signerOf(request.spec.signerName) ? ownKey(request) : []),
      }),
    ],
    view: (key, cache) => ({ request: cache.get<Csr>(certificateSigningRequests, '', key) }),
    reconcile: reconcileSigning,
    ...((clusterSigning ?? clusterSigners) && { actions: signing(signerOf) }),
    backoff: { baseMs: 200, maxMs: 1_000_000 },
  });
};
