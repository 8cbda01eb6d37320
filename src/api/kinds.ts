// Every built-in kind with rules of its own: one entry per folder `src/api/<group>/<kind>/` (test/kinds compares list and folders).
import type { KubeObject } from '#apimachinery/meta';
import { resourceSlice } from './resource/resourceslice/index.ts';
import { resourceClaimTemplate } from './resource/resourceclaimtemplate/index.ts';
import { resourceClaim } from './resource/resourceclaim/index.ts';
import { deviceClass } from './resource/deviceclass/index.ts';
import { certificateSigningRequest } from './certificates/certificatesigningrequest/index.ts';
import { apiService } from './apiregistration/apiservice/index.ts';
import { mutatingAdmissionPolicyBinding } from './admissionregistration/mutatingadmissionpolicybinding/index.ts';
import { mutatingAdmissionPolicy } from './admissionregistration/mutatingadmissionpolicy/index.ts';
import { validatingAdmissionPolicyBinding } from './admissionregistration/validatingadmissionpolicybinding/index.ts';
import { validatingAdmissionPolicy } from './admissionregistration/validatingadmissionpolicy/index.ts';
import { mutatingWebhookConfiguration } from './admissionregistration/mutatingwebhookconfiguration/index.ts';
import { validatingWebhookConfiguration } from './admissionregistration/validatingwebhookconfiguration/index.ts';
import { priorityLevelConfiguration } from './flowcontrol/prioritylevelconfiguration/index.ts';
import { flowSchema } from './flowcontrol/flowschema/index.ts';
import { runtimeClass } from './node/runtimeclass/index.ts';
import { serviceCIDR } from './networking/servicecidr/index.ts';
import { ipAddress } from './networking/ipaddress/index.ts';
import { networkPolicy } from './networking/networkpolicy/index.ts';
import { ingressClass } from './networking/ingressclass/index.ts';
import { ingress } from './networking/ingress/index.ts';
import { volumeAttributesClass } from './storage/volumeattributesclass/index.ts';
import { csiStorageCapacity } from './storage/csistoragecapacity/index.ts';
import { csiNode } from './storage/csinode/index.ts';
import { csiDriver } from './storage/csidriver/index.ts';
import { volumeAttachment } from './storage/volumeattachment/index.ts';
import { storageClass } from './storage/storageclass/index.ts';
import { controllerRevision } from './apps/controllerrevision/index.ts';
import { daemonSet } from './apps/daemonset/index.ts';
import { deployment } from './apps/deployment/index.ts';
import { replicaSet } from './apps/replicaset/index.ts';
import { statefulSet } from './apps/statefulset/index.ts';
import { cronJob } from './batch/cronjob/index.ts';
import { job } from './batch/job/index.ts';
import { horizontalPodAutoscaler } from './autoscaling/horizontalpodautoscaler/index.ts';
import { priorityClass } from './scheduling/priorityclass/index.ts';
import { resourceQuota } from './core/resourcequota/index.ts';
import { persistentVolume } from './core/persistentvolume/index.ts';
import { limitRange } from './core/limitrange/index.ts';
import { persistentVolumeClaim } from './core/persistentvolumeclaim/index.ts';
import { podDisruptionBudget } from './policy/poddisruptionbudget/index.ts';
import { customResourceDefinition } from './apiextensions/customresourcedefinition/index.ts';
import { builtin, type MetadataRules } from './common/builtin.ts';
import { lease } from './coordination/lease/index.ts';
import { configMap } from './core/configmap/index.ts';
import { endpoints } from './core/endpoints/index.ts';
import { event } from './core/event/index.ts';
import { namespace } from './core/namespace/index.ts';
import { node } from './core/node/index.ts';
import { pod } from './core/pod/index.ts';
import { podTemplate } from './core/podtemplate/index.ts';
import { replicationController } from './core/replicationcontroller/index.ts';
import { secret } from './core/secret/index.ts';
import { service } from './core/service/index.ts';
import { serviceAccount } from './core/serviceaccount/index.ts';
import { endpointSlice } from './discovery/endpointslice/index.ts';
import type { KindDefinition } from './kind.ts';
import { clusterRole } from './rbac/clusterrole/index.ts';
import { clusterRoleBinding } from './rbac/clusterrolebinding/index.ts';
import { role } from './rbac/role/index.ts';
import { roleBinding } from './rbac/rolebinding/index.ts';

// Grouped by how often their rules look at the metadata of a changed object (common/builtin.ts).
const kinds: Record<MetadataRules, unknown[]> = {
  change: [
    resourceSlice,
    customResourceDefinition,
    resourceQuota,
    priorityClass,
    horizontalPodAutoscaler,
    serviceCIDR,
    networkPolicy,
    csiDriver,
    cronJob,
    daemonSet,
    deployment,
    lease,
    podTemplate,
    replicaSet,
    replicationController,
    service,
    statefulSet,
  ],
  whole: [
    mutatingAdmissionPolicyBinding,
    mutatingAdmissionPolicy,
    validatingAdmissionPolicyBinding,
    validatingAdmissionPolicy,
    mutatingWebhookConfiguration,
    validatingWebhookConfiguration,
    limitRange,
    priorityLevelConfiguration,
    flowSchema,
    csiNode,
    volumeAttachment,
    endpointSlice,
  ],
  both: [
    resourceClaim,
    resourceClaimTemplate,
    deviceClass,
    certificateSigningRequest,
    apiService,
    persistentVolumeClaim,
    runtimeClass,
    ipAddress,
    ingressClass,
    ingress,
    volumeAttributesClass,
    csiStorageCapacity,
    storageClass,
    clusterRole,
    clusterRoleBinding,
    configMap,
    controllerRevision,
    endpoints,
    job,
    namespace,
    node,
    pod,
    role,
    roleBinding,
    secret,
    serviceAccount,
  ],
  twice: [persistentVolume],
  none: [podDisruptionBudget, event],
};

/** Those whose rules know nothing of Kubernetes' own finalizers. */
const anyFinalizer: ReadonlySet<unknown> = new Set([
  ...[mutatingAdmissionPolicyBinding, mutatingAdmissionPolicy, validatingAdmissionPolicyBinding, validatingAdmissionPolicy],
  ...[mutatingWebhookConfiguration, validatingWebhookConfiguration, customResourceDefinition, apiService],
  ...[lease, runtimeClass, podDisruptionBudget, event],
]);

/** The definitions of all built-in kinds. */
export const builtinKinds: KindDefinition<KubeObject>[] = Object.entries(kinds).flatMap(([rules, definitions]) =>
  definitions.map((definition) =>
    builtin(definition as KindDefinition<KubeObject>, {
      rules: rules as MetadataRules,
      finalizers: !anyFinalizer.has(definition),
    }),
  ),
);
