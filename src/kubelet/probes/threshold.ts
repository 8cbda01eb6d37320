// When a probe's results change what is believed of a container (upstream prober/worker.go doProbe). Pure.
import type { ProbeKind, ProbeResult } from '../pod/probe-results.ts';

export interface ProbeState {
  /** What is believed. */
  believed: ProbeResult;
  last: 'success' | 'failure' | undefined;
  /** How often `last` came in a row. */
  run: number;
  /** Decided for good: nothing is asked until there is another container. */
  onHold: boolean;
}

const beliefAtStart: Record<ProbeKind, ProbeResult> = { liveness: 'success', readiness: 'failure', startup: 'unknown' };

export const initialState = (kind: ProbeKind): ProbeState => ({
  believed: beliefAtStart[kind],
  last: undefined,
  run: 0,
  onHold: false,
});

export interface Thresholds {
  successThreshold?: number;
  failureThreshold?: number;
}

export function afterProbe(
  state: ProbeState,
  kind: ProbeKind,
  result: 'success' | 'failure',
  thresholds: Thresholds,
): ProbeState {
  const run = state.last === result ? state.run + 1 : 1;
  const needed = result === 'success' ? (thresholds.successThreshold ?? 1) : (thresholds.failureThreshold ?? 3);
  const next: ProbeState = { ...state, last: result, run };
  if (run < needed) return next;
  const onHold = (kind === 'liveness' && result === 'failure') || kind === 'startup';
  return { ...next, believed: result, onHold, run: onHold ? 0 : run };
}
