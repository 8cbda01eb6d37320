// Pod conditions (upstream pkg/api/v1/pod).
import type { PodCondition, PodStatus } from '#api/core/v1';

export const findCondition = (conditions: readonly PodCondition[] | undefined, type: string): PodCondition | undefined =>
  conditions?.find((condition) => condition.type === type);

export const isConditionTrue = (status: PodStatus | undefined, type: string): boolean =>
  findCondition(status?.conditions, type)?.status === 'True';
