// Every kind that has a folder, by folder. Written by scripts/gen-kinds.mjs; do not edit.
import type { KubeObject } from '#apimachinery/meta';
import type { KindDefinition } from './kind.ts';
import { mutatingAdmissionPolicy } from './admissionregistration/mutatingadmissionpolicy/index.ts';
import { mutatingAdmissionPolicyBinding } from './admissionregistration/mutatingadmissionpolicybinding/index.ts';
import { mutatingWebhookConfiguration } from './admissionregistration/mutatingwebhookconfiguration/index.ts';
import { validatingAdmissionPolicy } from './admissionregistration/validatingadmissionpolicy/index.ts';
import { validatingAdmissionPolicyBinding } from './admissionregistration/validatingadmissionpolicybinding/index.ts';
import { validatingWebhookConfiguration } from './admissionregistration/validatingwebhookconfiguration/index.ts';
import { customResourceDefinition } from './apiextensions/customresourcedefinition/index.ts';
import { apiService } from './apiregistration/apiservice/index.ts';
import { controllerRevision } from './apps/controllerrevision/index.ts';
import { daemonSet } from './apps/daemonset/index.ts';
import { deployment } from './apps/deployment/index.ts';
import { replicaSet } from './apps/replicaset/index.ts';
import { statefulSet } from './apps/statefulset/index.ts';
import { horizontalPodAutoscaler } from './autoscaling/horizontalpodautoscaler/index.ts';
import { cronJob } from './batch/cronjob/index.ts';
import { job } from './batch/job/index.ts';
import { certificateSigningRequest } from './certificates/certificatesigningrequest/index.ts';
import { lease } from './coordination/lease/index.ts';
import { configMap } from './core/configmap/index.ts';
import { endpoints } from './core/endpoints/index.ts';
import { event } from './core/event/index.ts';
import { limitRange } from './core/limitrange/index.ts';
import { namespace } from './core/namespace/index.ts';
import { node } from './core/node/index.ts';
import { persistentVolume } from './core/persistentvolume/index.ts';
import { persistentVolumeClaim } from './core/persistentvolumeclaim/index.ts';
import { pod } from './core/pod/index.ts';
import { podTemplate } from './core/podtemplate/index.ts';
import { replicationController } from './core/replicationcontroller/index.ts';
import { resourceQuota } from './core/resourcequota/index.ts';
import { secret } from './core/secret/index.ts';
import { service } from './core/service/index.ts';
import { serviceAccount } from './core/serviceaccount/index.ts';
import { endpointSlice } from './discovery/endpointslice/index.ts';
import { flowSchema } from './flowcontrol/flowschema/index.ts';
import { priorityLevelConfiguration } from './flowcontrol/prioritylevelconfiguration/index.ts';
import { ingress } from './networking/ingress/index.ts';
import { ingressClass } from './networking/ingressclass/index.ts';
import { ipAddress } from './networking/ipaddress/index.ts';
import { networkPolicy } from './networking/networkpolicy/index.ts';
import { serviceCIDR } from './networking/servicecidr/index.ts';
import { runtimeClass } from './node/runtimeclass/index.ts';
import { podDisruptionBudget } from './policy/poddisruptionbudget/index.ts';
import { clusterRole } from './rbac/clusterrole/index.ts';
import { clusterRoleBinding } from './rbac/clusterrolebinding/index.ts';
import { role } from './rbac/role/index.ts';
import { roleBinding } from './rbac/rolebinding/index.ts';
import { deviceClass } from './resource/deviceclass/index.ts';
import { resourceClaim } from './resource/resourceclaim/index.ts';
import { resourceClaimTemplate } from './resource/resourceclaimtemplate/index.ts';
import { resourceSlice } from './resource/resourceslice/index.ts';
import { priorityClass } from './scheduling/priorityclass/index.ts';
import { csiDriver } from './storage/csidriver/index.ts';
import { csiNode } from './storage/csinode/index.ts';
import { csiStorageCapacity } from './storage/csistoragecapacity/index.ts';
import { storageClass } from './storage/storageclass/index.ts';
import { volumeAttachment } from './storage/volumeattachment/index.ts';
import { volumeAttributesClass } from './storage/volumeattributesclass/index.ts';

const all: unknown[] = [
  mutatingAdmissionPolicy,
  mutatingAdmissionPolicyBinding,
  mutatingWebhookConfiguration,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  validatingWebhookConfiguration,
  customResourceDefinition,
  apiService,
  controllerRevision,
  daemonSet,
  deployment,
  replicaSet,
  statefulSet,
  horizontalPodAutoscaler,
  cronJob,
  job,
  certificateSigningRequest,
  lease,
  configMap,
  endpoints,
  event,
  limitRange,
  namespace,
  node,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  podTemplate,
  replicationController,
  resourceQuota,
  secret,
  service,
  serviceAccount,
  endpointSlice,
  flowSchema,
  priorityLevelConfiguration,
  ingress,
  ingressClass,
  ipAddress,
  networkPolicy,
  serviceCIDR,
  runtimeClass,
  podDisruptionBudget,
  clusterRole,
  clusterRoleBinding,
  role,
  roleBinding,
  deviceClass,
  resourceClaim,
  resourceClaimTemplate,
  resourceSlice,
  priorityClass,
  csiDriver,
  csiNode,
  csiStorageCapacity,
  storageClass,
  volumeAttachment,
  volumeAttributesClass,
];

export const kinds = all as KindDefinition<KubeObject>[];
