// A pod made from a template (pkg/controller GetPodFromTemplate).
import type { Pod, PodTemplateSpec } from '#api/core/v1';
import type { KubeObject, OwnerReference } from '#apimachinery/meta';

/** Longest prefix that leaves room for the suffix the server adds. */
const generateNameMax = 63 - 5;

/** The prefix `<owner>-`, of which the server makes a name. */
export const podNamePrefix = (owner: string): string => `${owner.slice(0, generateNameMax - 1)}-`;

/** Parts are shared with the template: the result is only to be sent. */
export function podFromTemplate(template: PodTemplateSpec, owner: KubeObject, ownerReference: OwnerReference): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: podNamePrefix(owner.metadata.name ?? ''),
      namespace: owner.metadata.namespace,
      labels: labels ?? {},
      ...(annotations && { annotations }),
      ...(finalizers && { finalizers }),
      ownerReferences: [ownerReference],
    },
    spec: template.spec,
  };
}
