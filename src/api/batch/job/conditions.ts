// Conditions of jobs (pkg/apis/batch/validation).
import type { JobStatus } from '#api/batch/v1';

export const isTrue = (status: JobStatus | undefined, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

export const isFalse = (status: JobStatus | undefined, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'False') ?? false;

export const isFinished = (status: JobStatus | undefined): boolean => isTrue(status, 'Complete') || isTrue(status, 'Failed');
