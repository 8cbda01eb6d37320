// The plugins that are built: one import and one entry per folder. Of those that are on by default upstream five are absent here. Four have nothing to do in
// this server, as their kinds are not served by default (PodGroupProtection, PodGroupWorkloadExists, JobValidation, ClusterTrustBundleAttest); what
// NodeDeclaredFeatureValidator compares, no node here declares (docs/status.md).
import type { PluginDefinition } from '../plugin.ts';
import { plugin as alwaysAdmit } from './always-admit/index.ts';
import { plugin as alwaysDeny } from './always-deny/index.ts';
import { plugin as alwaysPullImages } from './always-pull-images/index.ts';
import { plugin as certificateApproval } from './certificate-approval/index.ts';
import { plugin as certificateSigning } from './certificate-signing/index.ts';
import { plugin as certificateSubjectRestriction } from './certificate-subject-restriction/index.ts';
import { plugin as defaultIngressClass } from './default-ingress-class/index.ts';
import { plugin as defaultStorageClass } from './default-storage-class/index.ts';
import { plugin as defaultTolerationSeconds } from './default-toleration-seconds/index.ts';
import { plugin as denyServiceExternalIps } from './deny-service-external-ips/index.ts';
import { plugin as eventRateLimit } from './event-rate-limit/index.ts';
import { plugin as extendedResourceToleration } from './extended-resource-toleration/index.ts';
import { plugin as imagePolicyWebhook } from './image-policy-webhook/index.ts';
import { plugin as limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology/index.ts';
import { plugin as limitRanger } from './limit-ranger/index.ts';
import { plugin as mutatingAdmissionPolicy } from './mutating-admission-policy/index.ts';
import { plugin as mutatingAdmissionWebhook } from './mutating-admission-webhook/index.ts';
import { plugin as namespaceAutoProvision } from './namespace-auto-provision/index.ts';
import { plugin as namespaceExists } from './namespace-exists/index.ts';
import { plugin as namespaceLifecycle } from './namespace-lifecycle/index.ts';
import { plugin as nodeRestriction } from './node-restriction/index.ts';
import { plugin as ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement/index.ts';
import { plugin as persistentVolumeClaimResize } from './persistent-volume-claim-resize/index.ts';
import { plugin as podNodeSelector } from './pod-node-selector/index.ts';
import { plugin as podResizeValidator } from './pod-resize-validator/index.ts';
import { plugin as podSecurity } from './pod-security/index.ts';
import { plugin as podTolerationRestriction } from './pod-toleration-restriction/index.ts';
import { plugin as podTopologyLabels } from './pod-topology-labels/index.ts';
import { plugin as priority } from './priority/index.ts';
import { plugin as resourceQuota } from './resource-quota/index.ts';
import { plugin as runtimeClass } from './runtime-class/index.ts';
import { plugin as serviceAccount } from './service-account/index.ts';
import { plugin as storageObjectInUseProtection } from './storage-object-in-use-protection/index.ts';
import { plugin as taintNodesByCondition } from './taint-nodes-by-condition/index.ts';
import { plugin as validatingAdmissionPolicy } from './validating-admission-policy/index.ts';
import { plugin as validatingAdmissionWebhook } from './validating-admission-webhook/index.ts';

const all: readonly PluginDefinition[] = [
  alwaysAdmit,
  alwaysDeny,
  alwaysPullImages,
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  defaultIngressClass,
  defaultStorageClass,
  defaultTolerationSeconds,
  denyServiceExternalIps,
  eventRateLimit,
  extendedResourceToleration,
  imagePolicyWebhook,
  limitPodHardAntiAffinityTopology,
  limitRanger,
  mutatingAdmissionPolicy,
  mutatingAdmissionWebhook,
  namespaceAutoProvision,
  namespaceExists,
  namespaceLifecycle,
  nodeRestriction,
  ownerReferencesPermissionEnforcement,
  persistentVolumeClaimResize,
  podNodeSelector,
  podResizeValidator,
  podSecurity,
  podTolerationRestriction,
  podTopologyLabels,
  priority,
  resourceQuota,
  runtimeClass,
  serviceAccount,
  storageObjectInUseProtection,
  taintNodesByCondition,
  validatingAdmissionPolicy,
  validatingAdmissionWebhook,
];

export const plugins: ReadonlyMap<string, PluginDefinition> = new Map(all.map((plugin) => [plugin.name, plugin]));
