// The list of control loops: one import and one entry per folder (test/component compares them).
import type { ControllerDefinition } from '#controller-runtime';
import type { ControllersConfig } from './config.ts';
import { attachDetachController } from './attachdetach/index.ts';
import { bootstrapSigner, tokenCleaner } from './bootstrap/index.ts';
import { csrApprovingController, csrCleanerController, csrSigningController } from './certificates/index.ts';
import { clusterRoleAggregationController } from './clusterroleaggregation/index.ts';
import { cronJobController } from './cronjob/index.ts';
import { daemonSetController } from './daemonset/index.ts';
import { deploymentController } from './deployment/index.ts';
import { deviceTaintEvictionController } from './devicetainteviction/index.ts';
import { disruptionController } from './disruption/index.ts';
import { endpointsController } from './endpoints/index.ts';
import { endpointSliceController } from './endpointslice/index.ts';
import { endpointSliceMirroringController } from './endpointslicemirroring/index.ts';
import { ephemeralVolumeController } from './ephemeralvolume/index.ts';
import { garbageCollector } from './garbagecollector/index.ts';
import { namespaceController } from './namespace/index.ts';
import { nodeIpamController } from './nodeipam/index.ts';
import { nodeLifecycleController } from './nodelifecycle/index.ts';
import { persistentVolumeBinder } from './persistentvolumebinder/index.ts';
import { persistentVolumeExpander } from './persistentvolumeexpander/index.ts';
import { podAutoscaler } from './podautoscaler/index.ts';
import { podGarbageCollector } from './podgc/index.ts';
import { jobController } from './job/index.ts';
import { pvcProtectionController } from './pvcprotection/index.ts';
import { pvProtectionController } from './pvprotection/index.ts';
import { replicaSetController } from './replicaset/index.ts';
import { replicationController } from './replicationcontroller/index.ts';
import { resourceClaimController } from './resourceclaim/index.ts';
import { resourceQuotaController } from './resourcequota/index.ts';
import { rootCaCertPublisher } from './rootcacertpublisher/index.ts';
import { serviceCidrsController } from './servicecidrs/index.ts';
import { serviceAccountController } from './serviceaccount/index.ts';
import { legacyTokenCleaner, tokensController } from './serviceaccounttoken/index.ts';
import { statefulSetController } from './statefulset/index.ts';
import { taintEvictionController } from './tainteviction/index.ts';
import { ttlController } from './ttl/index.ts';
import { ttlAfterFinishedController } from './ttlafterfinished/index.ts';
import { validatingAdmissionPolicyStatusController } from './validatingadmissionpolicystatus/index.ts';
import { vacProtectionController } from './vacprotection/index.ts';

export { type ControllersConfig, defaultControllersConfig } from './config.ts';

/** Makes all loops of kube-controller-manager. */
export const createControllers = (config: ControllersConfig): ControllerDefinition[] => [
  cronJobController,
  daemonSetController,
  deploymentController,
  endpointsController,
  endpointSliceController,
  endpointSliceMirroringController,
  jobController,
  replicaSetController,
  replicationController,
  statefulSetController,
  garbageCollector,
  namespaceController,
  nodeIpamController(config),
  nodeLifecycleController(config),
  podGarbageCollector(config),
  rootCaCertPublisher(config.rootCa),
  serviceAccountController,
  taintEvictionController,
  deviceTaintEvictionController,
  ttlController,
  clusterRoleAggregationController,
  csrApprovingController,
  csrCleanerController,
  csrSigningController(config),
  disruptionController,
  resourceQuotaController(config),
  ttlAfterFinishedController,
  ephemeralVolumeController,
  resourceClaimController,
  persistentVolumeBinder,
  pvProtectionController,
  pvcProtectionController,
  podAutoscaler(config),
  tokensController(config),
  legacyTokenCleaner(config),
  persistentVolumeExpander,
  attachDetachController(config),
  validatingAdmissionPolicyStatusController,
  vacProtectionController,
  serviceCidrsController,
  bootstrapSigner,
  tokenCleaner,
];
