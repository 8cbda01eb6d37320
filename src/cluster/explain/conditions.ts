// What the conditions of any object say. Pure.
import type { KubeObject } from '#apimachinery/meta';
import { ageText, reasonText } from './words.ts';

/** A condition of any kind, of which any field may be missing. */
export interface AnyCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string | null;
}

export function conditionsOf(object: KubeObject): AnyCondition[] {
  const { status } = object as { status?: { conditions?: unknown } };
  const conditions = Array.isArray(status?.conditions) ? (status.conditions as unknown[]) : [];
  return conditions.filter((one): one is AnyCondition => {
    const { type, status: value } = (one ?? {}) as Partial<AnyCondition>;
    return typeof type === 'string' && typeof value === 'string';
  });
}

export function conditionText({ type, status, reason, message, lastTransitionTime }: AnyCondition, nowMs: number): string {
  const since = lastTransitionTime ? ` since ${ageText(Date.parse(lastTransitionTime), nowMs)}` : '';
  const why = reason || message ? `: ${reasonText(reason, message)}` : '';
  return `${type} is ${status}${since}${why}`;
}

/** The conditions of the given types whose status is the one that means trouble. */
export function troubles(object: KubeObject, bad: Readonly<Record<string, string>>, nowMs: number): string[] {
  return conditionsOf(object)
    .filter(({ type, status }) => bad[type] === status)
    .map((condition) => conditionText(condition, nowMs));
}
