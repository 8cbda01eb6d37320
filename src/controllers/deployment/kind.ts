// What Deployments own, for claiming ReplicaSets.
import type { Deployment } from '#api/apps/v1';
import { workloadSelector } from '#component-helpers/workload';
import { deployments, type OwnerKind } from '#controller-runtime/workload';

export const deploymentKind: OwnerKind<Deployment> = {
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  resource: deployments,
  selector: ({ spec }) => workloadSelector(spec?.selector),
};
