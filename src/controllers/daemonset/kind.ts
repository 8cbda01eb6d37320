// What DaemonSets own, for claiming pods and revisions.
import type { DaemonSet } from '#api/apps/v1';
import { workloadSelector } from '#component-helpers/workload';
import { daemonSets, type OwnerKind } from '#controller-runtime/workload';

export const daemonSetKind: OwnerKind<DaemonSet> = {
  kind: 'DaemonSet',
  apiVersion: 'apps/v1',
  resource: daemonSets,
  selector: ({ spec }) => workloadSelector(spec?.selector),
};
