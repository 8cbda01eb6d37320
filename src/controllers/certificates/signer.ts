// Signs approved requests for the built-in signers with the cluster's authority (pkg/controller/certificates/signer).
import type { CertificateSigningRequest } from '#api/certificates/v1';
import { formatTime } from '#apimachinery/meta';
import { type ControllerDefinition, defineController, ownKey, type Plan, watch } from '#controller-runtime';
import { certificateSigningRequests } from '#controller-runtime/platform';
import type { ControllersConfig } from '../config.ts';
import { sign, signing, type SignerOf } from './actions/sign.ts';
import { builtInSigners, hasCondition, isIssued, readRequest, signerProblem, withStatus } from './request.ts';
import { rights, serviceAccount } from './rights.ts';

type Csr = CertificateSigningRequest;

export interface SigningView {
  request: Csr | undefined;
}

/** Decides whether a request is signed now. */
export function reconcileSigning({ request }: SigningView, now: number): Plan {
  if (!request || isIssued(request) || !hasCondition(request, 'Approved') || hasCondition(request, 'Denied'))
    return { effects: [] };
  if (hasCondition(request, 'Failed') || !builtInSigners.includes(request.spec.signerName)) return { effects: [] };
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
