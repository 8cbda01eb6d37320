// Taints and tolerations (k8s.io/component-helpers/scheduling/corev1).
import type { Taint, Toleration } from '#api/core/v1';
import { parseGoInt } from '#utils';

export function tolerates({ key = '', operator, value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  const own = taint.value ?? '';
  if (operator === 'Lt' || operator === 'Gt') {
    const [bound, number] = [parseGoInt(value, 64), parseGoInt(own, 64)];
    if (bound === undefined || number === undefined) return false;
    return operator === 'Lt' ? number < bound : number > bound;
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
