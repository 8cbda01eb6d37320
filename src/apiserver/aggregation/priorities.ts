// Where the groups and versions that this server serves itself stand among all (k8s.io/kubernetes cmd/kube-apiserver/app/aggregator.go).

import { own } from '#utils';
/** The priorities of one group version: of its group among groups, and of the version within the group; the higher one comes first. */
export interface Priority {
  groupPriorityMinimum: number;
  versionPriority: number;
}

/** Group -> [group priority, version -> version priority]. */
const builtin: Record<string, [number, Record<string, number>]> = {
  '': [18_000, { v1: 1 }],
  'admissionregistration.k8s.io': [16_700, { v1: 15, v1beta1: 12, v1alpha1: 9 }],
  'apiextensions.k8s.io': [16_700, { v1: 15 }],
  apps: [17_800, { v1: 15 }],
  'authentication.k8s.io': [17_700, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  'authorization.k8s.io': [17_600, { v1: 15 }],
  autoscaling: [17_500, { v1: 15, v2: 30 }],
  batch: [17_400, { v1: 15 }],
  'certificates.k8s.io': [17_300, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  'coordination.k8s.io': [16_500, { v1: 15, v1beta1: 13, v1alpha2: 12 }],
  'discovery.k8s.io': [16_200, { v1: 15 }],
  'events.k8s.io': [17_750, { v1: 15 }],
  'flowcontrol.apiserver.k8s.io': [16_100, { v1: 21 }],
  'internal.apiserver.k8s.io': [16_000, { v1alpha1: 9 }],
  'networking.k8s.io': [17_200, { v1: 15, v1beta1: 9 }],
  'node.k8s.io': [16_300, { v1: 15 }],
  policy: [17_100, { v1: 15 }],
  'rbac.authorization.k8s.io': [17_000, { v1: 15 }],
  'resource.k8s.io': [16_200, { v1: 21, v1beta2: 15, v1beta1: 9, v1alpha3: 1 }],
  'scheduling.k8s.io': [16_600, { v1: 15, v1alpha2: 2 }],
  'storage.k8s.io': [16_800, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  'storagemigration.k8s.io': [15_800, { v1beta1: 9 }],
};

/** The priority of a group version that this server serves itself. Undefined for all others, and for apiregistration, which has no APIService. */
export function builtinPriority(group: string, version: string): Priority | undefined {
  const [groupPriorityMinimum, versions] = own(builtin, group) ?? [];
  const versionPriority = own(versions ?? {}, version);
  return groupPriorityMinimum === undefined || versionPriority === undefined
    ? undefined
    : { groupPriorityMinimum, versionPriority };
}

/** Versions of a custom group are sorted by their names. */
export const customPriority: Priority = { groupPriorityMinimum: 1_000, versionPriority: 100 };
