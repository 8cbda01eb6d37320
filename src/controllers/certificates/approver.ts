// Approves what kubelets ask for themselves, where access rules allow it (pkg/controller/certificates/approver).
import type { CertificateSigningRequest } from '#api/certificates/v1';
import { action, type ControllerDefinition, defineController, ownKey, type Plan, watch } from '#controller-runtime';
import { certificateSigningRequests } from '#controller-runtime/platform';
import { askReviews } from './actions/ask-reviews.ts';
import { hasCondition, isIssued, kubeletClientProblem, kubeletClientSigner, readRequest } from './request.ts';
import { rights, serviceAccount } from './rights.ts';

type Csr = CertificateSigningRequest;

/** What a request may be, the permission its sender then needs, and what approval says. */
export interface Recognition {
  subresource: 'selfnodeclient' | 'nodeclient';
  message: string;
}

const self: Recognition = {
  subresource: 'selfnodeclient',
  message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
};
const node: Recognition = {
  subresource: 'nodeclient',
  message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
};

const review = action<{ request: Csr; recognitions: Recognition[] }>('review');

export interface ApprovalView {
  request: Csr | undefined;
}

/** Decides whether access rules are to be asked. */
export function reconcileApproval({ request }: ApprovalView): Plan {
  if (!request || isIssued(request) || hasCondition(request, 'Approved') || hasCondition(request, 'Denied'))
    return { effects: [] };
  if (request.spec.signerName !== kubeletClientSigner) return { effects: [] };
  const parsed = readRequest(request);
  if (typeof parsed === 'string') return { effects: [], failure: parsed };
  if (kubeletClientProblem(parsed, request.spec.usages ?? []) !== undefined) return { effects: [] };
  const recognitions = request.spec.username === parsed.subject.commonName ? [self, node] : [node];
  return {
    effects: [review.on({ request, recognitions })],
    because: 'It asks for the client certificate of a kubelet: approved if access rules let its sender have one.',
  };
}

/** Decides what follows from the answers, in the order of `recognitions`. */
export function afterReview(request: Csr, recognitions: readonly Recognition[], allowed: readonly boolean[]): Plan {
  const granted = recognitions.find((_, index) => allowed[index]);
  if (!granted) {
    const tried = recognitions.map(({ subresource }) => subresource).join(' ');
    return {
      effects: [],
      failure: `recognized csr "${request.metadata.name}" as [${tried}] but subject access review was not approved`,
    };
  }
  const approval = { type: 'Approved', status: 'True', reason: 'AutoApproved', message: granted.message };
  const object: Csr = {
    ...request,
    status: { ...request.status, conditions: [...(request.status?.conditions ?? []), approval] },
  };
  return { effects: [{ op: 'update', resource: certificateSigningRequests, subresource: 'approval', object }] };
}

export const csrApprovingController: ControllerDefinition = defineController<ApprovalView>({
  name: 'certificatesigningrequest-approving-controller',
  aliases: ['csrapproving'],
  for: certificateSigningRequests,
  serviceAccount,
  rights,
  watches: [watch<Csr>({ resource: certificateSigningRequests, keys: (request) => ownKey(request) })],
  view: (key, cache) => ({ request: cache.get<Csr>(certificateSigningRequests, '', key) }),
  reconcile: reconcileApproval,
  actions: ({ client }) => [
    review.by(({ request, recognitions }) => {
      const subresources = recognitions.map(({ subresource }) => subresource);
      return askReviews(client, request, subresources).then((allowed) => afterReview(request, recognitions, allowed));
    }),
  ],
  backoff: { baseMs: 200, maxMs: 1_000_000 },
});
