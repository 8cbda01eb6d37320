// ImageReview (imagepolicy.k8s.io/v1alpha1): what the server of ImagePolicyWebhook is asked about a pod, and the type of what it answers. Pure.
import type { Pod } from '#api/core/v1';
import type { SchemaTable, TypeSchema } from '#apimachinery/schema';

export interface ReviewSpec {
  containers: { image?: string }[];
  annotations?: Record<string, string>;
  namespace?: string;
}

export interface ReviewStatus {
  allowed?: boolean;
  reason?: string;
  auditAnnotations?: Record<string, string>;
}

/** Annotations of a pod that its review shows have this in their names. */
const annotationDomain = '.image-policy.k8s.io/';

const imagesOf = (containers: readonly { image?: string }[] | null | undefined): { image?: string }[] =>
  (containers ?? []).map(({ image }) => ({ ...(image && { image }) }));

/** Of `ephemeralcontainers` those alone, else all that a pod is made with. */
export function reviewSpec(pod: Pod, subresource: string, namespace: string): ReviewSpec {
  const { containers, initContainers, ephemeralContainers } = pod.spec ?? {};
  const annotations = Object.entries(pod.metadata.annotations ?? {}).filter(([name]) => name.includes(annotationDomain));
  return {
    containers: subresource === '' ? [...imagesOf(containers), ...imagesOf(initContainers)] : imagesOf(ephemeralContainers),
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations.sort(([a], [b]) => (a < b ? -1 : 1))) }),
    ...(namespace && { namespace }),
  };
}

export const reviewType = 'io.k8s.api.imagepolicy.v1alpha1.ImageReview';
const statusType = `${reviewType}Status`;

const types: readonly TypeSchema[] = [
  {
    name: reviewType,
    fields: [
      { name: 'kind', number: 0, type: 'string', omitempty: true },
      { name: 'apiVersion', number: 0, type: 'string', omitempty: true },
      { name: 'status', number: 3, type: 'message', ref: statusType, omitempty: true },
    ],
  },
  {
    name: statusType,
    fields: [
      { name: 'allowed', number: 1, type: 'bool' },
      { name: 'reason', number: 2, type: 'string', omitempty: true },
      { name: 'auditAnnotations', number: 3, type: 'string', shape: 'map', omitempty: true },
    ],
  },
];

/** The published documents do not have this group: no server serves it. */
export const reviewTable: SchemaTable = {
  type: (name) => types.find((one) => one.name === name),
  kind: () => undefined,
  names: () => types.map(({ name }) => name).sort(),
  kinds: () => [],
};
