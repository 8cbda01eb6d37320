// Bringing raw scores into 0..100 (upstream plugins/helper DefaultNormalizeScore).
import { maxNodeScore } from './limits.ts';

/** Scales so that the largest becomes 100; reversed, the largest becomes 0. */
export function defaultNormalize(scores: Float64Array, reverse: boolean): void {
  let max = 0;
  for (let i = 0; i < scores.length; i++) if ((scores[i] as number) > max) max = scores[i] as number;
  if (max === 0) {
    if (reverse) scores.fill(maxNodeScore);
    return;
  }
  for (let i = 0; i < scores.length; i++) {
    const scaled = Math.trunc((maxNodeScore * (scores[i] as number)) / max);
    scores[i] = reverse ? maxNodeScore - scaled : scaled;
  }
}
