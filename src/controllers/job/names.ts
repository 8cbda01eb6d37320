// Annotations, labels and reasons of Jobs (k8s.io/api/batch/v1).
import type { Job } from '#api/batch/v1';
import { workloadSelector } from '#component-helpers/workload';
import { jobs, type OwnerKind } from '#controller-runtime/workload';

export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
export const completionIndexName = 'batch.kubernetes.io/job-completion-index';
export const indexFailureCount = 'batch.kubernetes.io/job-index-failure-count';
export const indexIgnoredFailureCount = 'batch.kubernetes.io/job-index-ignored-failure-count';
export const controllerName = 'kubernetes.io/job-controller';

export const jobKind: OwnerKind<Job> = {
  kind: 'Job',
  apiVersion: 'batch/v1',
  resource: jobs,
  selector: ({ spec }) => workloadSelector(spec?.selector),
};
