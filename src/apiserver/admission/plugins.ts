// The plugins that are built, by upstream's name. One that is on by default and absent here has nothing to do in this server: its kinds
// are not served by default (PodGroupProtection, PodGroupWorkloadExists, JobValidation, ClusterTrustBundleAttest).
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates.ts';
import { defaultIngressClass, denyServiceExternalIps } from './ingress.ts';
import { limitRanger } from './limit-ranger.ts';
import { mutatingAdmissionPolicy } from './mutating-admission-policy/plugin.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { nodeRestriction } from './node-restriction.ts';
import type { PluginFactory } from './plugin.ts';
import { podResizeValidator } from './pod-resize.ts';
import { podSecurity } from './pod-security/plugin.ts';
import { defaultTolerationSeconds, podTopologyLabels, priority, taintNodesByCondition } from './pod-defaults.ts';
import { resourceQuota } from './quota/plugin.ts';
import { runtimeClass } from './runtime-class.ts';
import { serviceAccount } from './service-account.ts';
import { defaultStorageClass, persistentVolumeClaimResize, storageObjectInUseProtection } from './storage.ts';
import { validatingAdmissionPolicy } from './validating-admission-policy/plugin.ts';
import { mutatingAdmissionWebhook, validatingAdmissionWebhook } from './webhook/plugin.ts';

export const plugins: Readonly<Record<string, PluginFactory | undefined>> = {
  NamespaceLifecycle: namespaceLifecycle,
  LimitRanger: limitRanger,
  ServiceAccount: serviceAccount,
  NodeRestriction: nodeRestriction,
  TaintNodesByCondition: taintNodesByCondition,
  PodSecurity: podSecurity,
  Priority: priority,
  DefaultTolerationSeconds: defaultTolerationSeconds,
  DefaultStorageClass: defaultStorageClass,
  StorageObjectInUseProtection: storageObjectInUseProtection,
  PersistentVolumeClaimResize: persistentVolumeClaimResize,
  RuntimeClass: runtimeClass,
  CertificateApproval: certificateApproval,
  CertificateSigning: certificateSigning,
  CertificateSubjectRestriction: certificateSubjectRestriction,
  DefaultIngressClass: defaultIngressClass,
  DenyServiceExternalIPs: denyServiceExternalIps,
  PodTopologyLabels: podTopologyLabels,
  PodResizeValidator: podResizeValidator,
  MutatingAdmissionPolicy: mutatingAdmissionPolicy,
  MutatingAdmissionWebhook: mutatingAdmissionWebhook,
  ValidatingAdmissionPolicy: validatingAdmissionPolicy,
  ValidatingAdmissionWebhook: validatingAdmissionWebhook,
  ResourceQuota: resourceQuota,
};
