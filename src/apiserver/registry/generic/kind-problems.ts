// An object that calls itself something else than what its path names: upstream's words (k8s.io/apimachinery/pkg/runtime, scheme and codec).
import type { SchemaTable } from '#apimachinery/schema';

const scheme = 'k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30';
const goPackage = (group: string): string => (group === '' ? 'core' : (group.split('.')[0] ?? group));

/** Versions that upstream's scheme still reads (k8s.io/api), though no server serves them any more or by default. */
const retired: Record<string, string> = {
  'admissionregistration.k8s.io/v1alpha1':
    'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding',
  'admissionregistration.k8s.io/v1beta1':
    'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration',
  'apiextensions.k8s.io/v1beta1': 'CustomResourceDefinition',
  'apiregistration.k8s.io/v1beta1': 'APIService',
  'apps/v1beta1': 'ControllerRevision Deployment Scale StatefulSet',
  'apps/v1beta2': 'ControllerRevision DaemonSet Deployment ReplicaSet Scale StatefulSet',
  'authentication.k8s.io/v1alpha1': 'SelfSubjectReview',
  'authentication.k8s.io/v1beta1': 'SelfSubjectReview TokenReview',
  'authorization.k8s.io/v1beta1': 'LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview',
  'batch/v1beta1': 'CronJob',
  'certificates.k8s.io/v1alpha1': 'ClusterTrustBundle',
  'certificates.k8s.io/v1beta1': 'CertificateSigningRequest ClusterTrustBundle PodCertificateRequest',
  'coordination.k8s.io/v1alpha2': 'LeaseCandidate',
  'coordination.k8s.io/v1beta1': 'Lease LeaseCandidate',
  'discovery.k8s.io/v1beta1': 'EndpointSlice',
  'events.k8s.io/v1beta1': 'Event',
  'extensions/v1beta1': 'DaemonSet Deployment Ingress NetworkPolicy ReplicaSet Scale',
  'flowcontrol.apiserver.k8s.io/v1beta1': 'FlowSchema PriorityLevelConfiguration',
  'flowcontrol.apiserver.k8s.io/v1beta2': 'FlowSchema PriorityLevelConfiguration',
  'flowcontrol.apiserver.k8s.io/v1beta3': 'FlowSchema PriorityLevelConfiguration',
  'networking.k8s.io/v1beta1': 'IPAddress Ingress IngressClass ServiceCIDR',
  'node.k8s.io/v1alpha1': 'RuntimeClass',
  'node.k8s.io/v1beta1': 'RuntimeClass',
  'policy/v1beta1': 'Eviction PodDisruptionBudget',
  'rbac.authorization.k8s.io/v1alpha1': 'ClusterRole ClusterRoleBinding Role RoleBinding',
  'rbac.authorization.k8s.io/v1beta1': 'ClusterRole ClusterRoleBinding Role RoleBinding',
  'resource.k8s.io/v1beta1': 'DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice',
  'resource.k8s.io/v1beta2': 'DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice',
  'scheduling.k8s.io/v1beta1': 'PriorityClass',
  'storage.k8s.io/v1alpha1': 'CSIStorageCapacity VolumeAttachment VolumeAttributesClass',
  'storage.k8s.io/v1beta1': 'CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass',
};

export interface NamedKind {
  group: string;
  version: string;
  kind: string;
  /** As written. */
  apiVersion: string;
}

interface WantedKind {
  schema: SchemaTable;
  group: string;
  kind: string;
  /** Of the kind, where it is not a question or a part of another kind. */
  definition?: { otherGroups?: readonly string[] };
}

const isRetired = ({ apiVersion, kind }: NamedKind): boolean => retired[apiVersion]?.split(' ').includes(kind) ?? false;

/** Whether a group serves the objects of the wanted kind, too. */
const isShared = ({ definition, group }: WantedKind, named: string): boolean => {
  const { otherGroups = [] } = definition ?? {};
  return otherGroups.includes(named) || otherGroups.includes(group);
};

/** Whether what is named is the wanted kind in another version: of its group, or of one whose kinds upstream keeps as the same. */
export function isSameKind(wanted: WantedKind, named: NamedKind): boolean {
  if (named.kind !== wanted.kind) return false;
  if (isRetired(named)) return named.group === wanted.group || named.group === 'extensions';
  if (!wanted.schema.kind(named.group, named.version, named.kind)) return false;
  return named.group === wanted.group || isShared(wanted, named.group);
}

/** `from`: where upstream's code makes the scheme that does not know the kind. */
export const unregisteredText = (kind: string, apiVersion: string, from = scheme): string =>
  `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme ${JSON.stringify(from)}`;

/** Groups that are servers of their own inside upstream's, with a scheme each: that of one does not know the kinds of another. */
const ownSchemes: Readonly<Record<string, string>> = {
  'apiextensions.k8s.io': 'k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55',
  'apiregistration.k8s.io': 'k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28',
};

/** Why what is named cannot become the wanted kind: nobody knows it, or it is another one. */
export function conversionProblem(wanted: WantedKind, named: NamedKind): string {
  const { group, version, kind, apiVersion } = named;
  const [home, other] = [ownSchemes[wanted.group], ownSchemes[group]];
  const isKnown = home === other && (isRetired(named) || wanted.schema.kind(group, version, kind) !== undefined);
  if (!isKnown) return unregisteredText(kind, apiVersion, home);
  return `converting (${version}.${kind}) to (${goPackage(wanted.group)}.${wanted.kind}): unknown conversion`;
}
