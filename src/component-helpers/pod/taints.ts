// Taints and tolerations (k8s.io/component-helpers/scheduling/corev1).
import type { Taint, Toleration } from '#api/core/v1';

export function tolerates({ key = '', operator, value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  const own = taint.value ?? '';
  if (operator === 'Lt' || operator === 'Gt') {
    if (!/^-?\d+$/.test(value) || !/^-?\d+$/.test(own)) return false;
    return operator === 'Lt' ? BigInt(own) < BigInt(value) : BigInt(own) > BigInt(value);
  }
  return value === own;
}

/** The first taint of one of `effects` that no toleration covers. */
export const untoleratedTaint = (
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly string[],
): Taint | undefined =>
  taints?.find((taint) => effects.includes(taint.effect) && !tolerations?.some((toleration) => tolerates(toleration, taint)));
