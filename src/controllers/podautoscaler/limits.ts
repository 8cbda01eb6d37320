// How fast an autoscaler may change its mind, and the size of its target (pkg/controller/podautoscaler;
// https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#configurable-scaling-behavior). Pure.
import type { HPAScalingRules, HorizontalPodAutoscaler } from '#api/autoscaling/v2';

/** The highest recommendation of this time wins over a lower one. */
const downscaleStabilizationMs = 300_000;
const scaleUpFactor = 2;
const scaleUpMin = 4;

export interface Recommendation {
  replicas: number;
  atMs: number;
}
export interface Change {
  by: number;
  atMs: number;
}
/** What was recommended and done lately. */
export interface History {
  recommendations: readonly Recommendation[];
  ups: readonly Change[];
  downs: readonly Change[];
}

export interface Limited {
  replicas: number;
  stabilized: { reason: string; message: string };
  limited: { isLimited: boolean; reason: string; message: string };
}

interface Range {
  hpa: HorizontalPodAutoscaler;
  current: number;
  proposed: number;
  min: number;
  history: History;
  now: number;
}

const ready = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' };
const higher = 'recent recommendations were higher than current one, applying the highest recent recommendation';
const lower = 'recent recommendations were lower than current one, applying the lowest recent recommendation';
const tooFast = 'faster than the maximum scale rate';
const texts = {
  ScaleUpLimit: `the desired replica count is increasing ${tooFast}`,
  ScaleDownLimit: `the desired replica count is decreasing ${tooFast}`,
  TooManyReplicas: 'the desired replica count is more than the maximum replica count',
  TooFewReplicas: 'the desired replica count is less than the minimum replica count',
  DesiredWithinRange: 'the desired count is within the acceptable range',
} as const;

const said = (isLimited: boolean, reason: keyof typeof texts): Limited['limited'] => ({
  isLimited,
  reason,
  message: texts[reason],
});

function plain({ hpa, current, proposed, min, history, now }: Range): Limited {
  const recent = history.recommendations.filter(({ atMs }) => atMs >= now - downscaleStabilizationMs);
  const stable = Math.max(proposed, ...recent.map(({ replicas }) => replicas));
  const stabilized = stable === proposed ? ready : { reason: 'ScaleDownStabilized', message: higher };
  const step = Math.max(scaleUpFactor * current, scaleUpMin);
  const max = hpa.spec?.maxReplicas ?? 1;
  if (stable < min) return { replicas: min, stabilized, limited: said(true, 'TooFewReplicas') };
  const allowed = Math.min(max, step);
  if (stable > allowed)
    return { replicas: allowed, stabilized, limited: said(true, max > step ? 'ScaleUpLimit' : 'TooManyReplicas') };
  return { replicas: stable, stabilized, limited: said(false, 'DesiredWithinRange') };
}

const changed = (changes: readonly Change[], periodSeconds: number, now: number): number =>
  changes.filter(({ atMs }) => atMs > now - periodSeconds * 1000).reduce((sum, { by }) => sum + by, 0);

/** How far a change may go now. */
function reach(rules: HPAScalingRules, current: number, { ups, downs }: History, now: number, up: boolean): number {
  if (rules.selectPolicy === 'Disabled') return current;
  const proposals = (rules.policies ?? []).map(({ type, value, periodSeconds }) => {
    const start = current - changed(ups, periodSeconds, now) + changed(downs, periodSeconds, now);
    if (type === 'Pods') return up ? start + value : start - value;
    return up ? Math.ceil(start * (1 + value / 100)) : Math.trunc(start * (1 - value / 100));
  });
  const least = rules.selectPolicy === 'Min';
  return up === least ? Math.min(...proposals) : Math.max(...proposals);
}

function stabilize({ hpa, current, proposed, history, now }: Range): number {
  const { scaleUp, scaleDown } = hpa.spec?.behavior ?? {};
  const upMs = (scaleUp?.stabilizationWindowSeconds ?? 0) * 1000;
  const downMs = (scaleDown?.stabilizationWindowSeconds ?? downscaleStabilizationMs / 1000) * 1000;
  let up = proposed;
  let down = proposed;
  for (const { replicas, atMs } of history.recommendations) {
    if (atMs > now - upMs) up = Math.min(up, replicas);
    if (atMs > now - downMs) down = Math.max(down, replicas);
  }
  return Math.min(Math.max(current, up), down);
}

function behaved(range: Range): Limited {
  const { hpa, current, proposed, min, history, now } = range;
  const { scaleUp = {}, scaleDown = {} } = hpa.spec?.behavior ?? {};
  const stable = stabilize(range);
  const held =
    proposed >= current ? { reason: 'ScaleUpStabilized', message: lower } : { reason: 'ScaleDownStabilized', message: higher };
  const stabilized = stable === proposed ? ready : held;
  if (stable > current) {
    const limit = Math.max(current, reach(scaleUp, current, history, now, true));
    const max = hpa.spec?.maxReplicas ?? 1;
    const allowed = Math.min(max, limit);
    if (stable > allowed)
      return { replicas: allowed, stabilized, limited: said(true, max > limit ? 'ScaleUpLimit' : 'TooManyReplicas') };
  }
  if (stable < current) {
    const limit = Math.min(current, reach(scaleDown, current, history, now, false));
    const allowed = Math.max(min, limit);
    if (stable < allowed)
      return { replicas: allowed, stabilized, limited: said(true, min < limit ? 'ScaleDownLimit' : 'TooFewReplicas') };
  }
  return { replicas: stable, stabilized, limited: said(false, 'DesiredWithinRange') };
}

/** The proposed number of replicas, held within the autoscaler's bounds and its behavior. */
export const limit = (range: Range): Limited => (range.hpa.spec?.behavior ? behaved(range) : plain(range));

const longestMs = (rules: HPAScalingRules | undefined): number =>
  Math.max(0, ...(rules?.policies ?? []).map(({ periodSeconds }) => periodSeconds * 1000));

/** What is worth remembering of the recommendations, with a new one. */
export function withRecommendation({ spec }: HorizontalPodAutoscaler, history: History, replicas: number, now: number): History {
  const { scaleUp, scaleDown } = spec?.behavior ?? {};
  const seconds = Math.max(
    scaleUp?.stabilizationWindowSeconds ?? 0,
    scaleDown?.stabilizationWindowSeconds ?? downscaleStabilizationMs / 1000,
  );
  const kept = history.recommendations.filter(({ atMs }) => atMs >= now - seconds * 1000);
  return { ...history, recommendations: [...kept, { replicas, atMs: now }] };
}

/** The history with a change that was just made added to it. */
export function withChange({ spec }: HorizontalPodAutoscaler, history: History, by: number, now: number): History {
  if (!spec?.behavior) return history;
  const { scaleUp, scaleDown } = spec.behavior;
  const fresh = (changes: readonly Change[], rules: HPAScalingRules | undefined): Change[] =>
    changes.filter(({ atMs }) => atMs >= now - longestMs(rules));
  if (by > 0) return { ...history, ups: [...fresh(history.ups, scaleUp), { by, atMs: now }] };
  return { ...history, downs: [...fresh(history.downs, scaleDown), { by: -by, atMs: now }] };
}
