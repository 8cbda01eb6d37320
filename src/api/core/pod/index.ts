// Pods (core/v1).
import type { Pod } from '#api/core/v1';
import { defineKind } from '../../kind.ts';
import { printer } from './columns.ts';
import { podDefaults } from './defaults.ts';
import * as strategy from './strategy.ts';
import { validatePodCreate, validatePodUpdate } from './validation/pod.ts';
import { validateEphemeralContainersUpdate, validateResize } from './validation/resize.ts';
import { validatePodStatusUpdate } from './validation/status.ts';
import { statusIPWarnings } from './status-warnings.ts';
import { podWarnings } from './warnings.ts';

export { isExtendedResourceName } from '../common/resource-names.ts';
export { summarizePod } from './columns.ts';
export { containersOf, isSidecar, visitContainers } from './containers.ts';
export { podDefaults, podSpecDefaults, podTemplateDefaults } from './defaults.ts';
export { defaultPullPolicy, imageTag } from './images.ts';
export { computeQOS, qosOf } from './qos.ts';
export { aggregateResources } from './resources.ts';
export { validateNodeSelector, validateNodeSelectorTerm } from './validation/affinity.ts';
export { validatePodTemplateSpec } from './validation/spec.ts';
export { shouldRestart } from './validation/state-transitions.ts';
export { validateTolerations } from './validation/tolerations.ts';
export { podTemplateWarnings } from './warnings.ts';

export const pod = defineKind<Pod>({
  group: '',
  version: 'v1',
  kind: 'Pod',
  defaults: podDefaults,
  prepareForCreate: strategy.prepareForCreate,
  prepareForUpdate: strategy.prepareForUpdate,
  validate: validatePodCreate,
  validateUpdate: validatePodUpdate,
  warnings: (object, old) => (old === undefined ? podWarnings(object) : []),
  resetFields: [['status']],
  status: {
    prepareForUpdate: strategy.prepareForStatusUpdate,
    validateUpdate: validatePodStatusUpdate,
    warnings: statusIPWarnings,
    resetFields: [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
  },
  doors: {
    ephemeralcontainers: {
      tables: false,
      prepareForUpdate: strategy.prepareForEphemeralContainers,
      validateUpdate: validateEphemeralContainersUpdate,
    },
    resize: { tables: false, prepareForUpdate: strategy.prepareForResize, validateUpdate: validateResize },
  },
  printer,
  indexedBy: 'spec.nodeName',
  selectableFields: ({ spec, status }) => ({
    'spec.nodeName': spec?.nodeName ?? '',
    'spec.restartPolicy': spec?.restartPolicy ?? '',
    'spec.schedulerName': spec?.schedulerName ?? '',
    'spec.serviceAccountName': spec?.serviceAccountName ?? '',
    'spec.hostNetwork': String(spec?.hostNetwork ?? false),
    'status.phase': status?.phase ?? '',
    'status.podIP': status?.podIPs?.[0]?.ip ?? '',
    // Accepted, but no pod has a value of it.
    'status.podIPs': '',
    'status.nominatedNodeName': status?.nominatedNodeName ?? '',
  }),
  elderFieldLabels: { 'spec.host': 'spec.nodeName' },
  deletion: { gracePeriodSeconds: strategy.gracePeriodSeconds, returnsObject: true },
});
