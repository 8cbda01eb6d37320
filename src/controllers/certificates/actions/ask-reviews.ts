// The shell of the approving loop: asks the apiserver whether access rules let the sender of a request have its certificate
// (SubjectAccessReview of authorization.k8s.io). What the answers mean is decided in approver.ts.
import type { SubjectAccessReview } from '#api/authorization/v1';
import type { CertificateSigningRequest } from '#api/certificates/v1';
import type { KubeClient } from '#controller-runtime';

const reviews = { group: 'authorization.k8s.io', version: 'v1', resource: 'subjectaccessreviews' };

const reviewOf = ({ spec }: CertificateSigningRequest, subresource: string): SubjectAccessReview => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  metadata: {},
  spec: {
    user: spec.username,
    uid: spec.uid,
    groups: spec.groups,
    extra: spec.extra,
    resourceAttributes: {
      group: 'certificates.k8s.io',
      resource: 'certificatesigningrequests',
      verb: 'create',
      subresource,
      version: '*',
    },
  },
});

/** One answer for each subresource in order, up to and including the first that is allowed. */
export async function askReviews(
  client: KubeClient,
  request: CertificateSigningRequest,
  subresources: readonly string[],
): Promise<boolean[]> {
  const allowed: boolean[] = [];
  for (const subresource of subresources) {
    const answer = await client.resource<SubjectAccessReview>(reviews).create(reviewOf(request, subresource));
    allowed.push(answer.status?.allowed ?? false);
    if (allowed.at(-1)) break;
  }
  return allowed;
}
