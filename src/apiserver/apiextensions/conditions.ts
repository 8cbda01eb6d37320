// Conditions of a CustomResourceDefinition (apiextensions helpers): one per type, the time only moves when the status does.
import type { CustomResourceDefinitionCondition, CustomResourceDefinitionStatus } from '#api/apiextensions/v1';

const empty: CustomResourceDefinitionStatus = { acceptedNames: { plural: '', kind: '' }, conditions: [], storedVersions: [] };

export function withCondition(
  status: CustomResourceDefinitionStatus | undefined,
  condition: CustomResourceDefinitionCondition,
): CustomResourceDefinitionStatus {
  const before = status ?? empty;
  const conditions = before.conditions ?? [];
  const known = conditions.find(({ type }) => type === condition.type);
  const kept =
    known && known.status === condition.status && known.lastTransitionTime
      ? { ...condition, lastTransitionTime: known.lastTransitionTime }
      : condition;
  return { ...before, conditions: known ? conditions.map((old) => (old === known ? kept : old)) : [...conditions, kept] };
}

export const isTrue = (status: CustomResourceDefinitionStatus | undefined, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
