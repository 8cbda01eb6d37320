// When a probe's results change what is believed of a container (upstream prober/worker.go doProbe). Pure.
import type { ProbeKind, ProbeResult } from '../pod/probe-results.ts';

export interface ProbeState {
  /** The result that counts for readiness and restarts. */
  believed: ProbeResult;
  lastResult: 'success' | 'failure' | undefined;
  /** How often `lastResult` came in a row. */
  resultRun: number;
  /** Decided for good: nothing is asked until there is another container. */
  onHold: boolean;
}

const beliefAtStart: Record<ProbeKind, ProbeResult> = { liveness: 'success', readiness: 'failure', startup: 'unknown' };

export const initialState = (kind: ProbeKind): ProbeState => ({
  believed: beliefAtStart[kind],
  lastResult: undefined,
  resultRun: 0,
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
  const run = state.lastResult === result ? state.resultRun + 1 : 1;
  const needed = result === 'success' ? (thresholds.successThreshold ?? 1) : (thresholds.failureThreshold ?? 3);
  const next: ProbeState = { ...state, lastResult: result, resultRun: run };
  if (run < needed) return next;
  const onHold = (kind === 'liveness' && result === 'failure') || kind === 'startup';
  return { ...next, believed: result, onHold, resultRun: onHold ? 0 : run };
}
