// Conditions of workload statuses (the SetCondition family of pkg/controller/*): one per type, replaced only when status or reason changes.

export interface WorkloadCondition {
  type: string;
  status: string;
  lastTransitionTime?: string | null;
  reason?: string;
  message?: string;
}

export const conditionOf = <C extends WorkloadCondition>(conditions: readonly C[] | undefined, type: string): C | undefined =>
  conditions?.find((condition) => condition.type === type);

export const withoutCondition = <C extends WorkloadCondition>(conditions: readonly C[] | undefined, type: string): C[] =>
  (conditions ?? []).filter((condition) => condition.type !== type);

/** `condition` at the end in place of the one of its type; the old list when status and reason are the same. */
export function setCondition<C extends WorkloadCondition>(conditions: readonly C[] | undefined, condition: C): C[] {
  const current = conditionOf(conditions, condition.type);
  if (current?.status === condition.status && (current.reason ?? '') === (condition.reason ?? '')) return [...(conditions ?? [])];
  return [...withoutCondition(conditions, condition.type), condition];
}
