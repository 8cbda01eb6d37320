// Pod conditions (upstream pkg/api/v1/pod).
import type { PodCondition, PodStatus } from '#api/core/v1';

export const findCondition = (conditions: readonly PodCondition[] | undefined, type: string): PodCondition | undefined =>
  conditions?.find((condition) => condition.type === type);

export const isConditionTrue = (status: PodStatus | undefined, type: string): boolean =>
  findCondition(status?.conditions, type)?.status === 'True';

/** `conditions` with `condition` in place of the one of its type, or at the end. */
export function withCondition(conditions: readonly PodCondition[], condition: PodCondition): PodCondition[] {
  const known = conditions.some(({ type }) => type === condition.type);
  return known ? conditions.map((old) => (old.type === condition.type ? condition : old)) : [...conditions, condition];
}
