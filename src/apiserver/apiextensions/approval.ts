// Whether a definition in a group of the Kubernetes community was approved by it, as a condition (k8s.io/apiextensions-apiserver/pkg/controller/apiapproval;
// https://kubernetes.io/docs/reference/labels-annotations-taints/#api-approved-kubernetes-io).
import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from '#api/apiextensions/v1';
import { quote } from '#utils';
import { withCondition } from './conditions.ts';

const annotation = 'api-approved.kubernetes.io';
const more = 'see https://github.com/kubernetes/enhancements/pull/1111';

const isProtected = (group: string): boolean => /(^|\.)(k8s|kubernetes)\.io$/.test(group);

function approvalOf(text: string): { status: 'True' | 'False'; reason: string; message: string } {
  const must = `protected groups must have approval annotation ${quote(annotation)}`;
  if (text === '') return { status: 'False', reason: 'MissingAnnotation', message: `${must}, ${more}` };
  if (text.startsWith('unapproved'))
    return { status: 'False', reason: 'UnapprovedAnnotation', message: `not approved: ${quote(text)}` };
  if (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#\s]+/.test(text))
    return { status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${text}` };
  const either = 'with either a URL or a reason starting with "unapproved"';
  return { status: 'False', reason: 'InvalidAnnotation', message: `${must} ${either}, ${more}` };
}

/** The status with the condition; as it is for a group of somebody else. */
export function approvedStatus(
  status: CustomResourceDefinitionStatus,
  { metadata, spec }: CustomResourceDefinition,
  lastTransitionTime: string,
): CustomResourceDefinitionStatus {
  if (!isProtected(spec.group)) return status;
  const approval = approvalOf(metadata.annotations?.[annotation] ?? '');
  return withCondition(status, { type: 'KubernetesAPIApprovalPolicyConformant', ...approval, lastTransitionTime });
}
