// When a target counts as healthy: after so many good probes in a row, until so many bad ones in a row. Pure.
import type { HealthCheck, TargetHealth } from '../../model/index.ts';

export interface ProbeState {
  health: Exclude<TargetHealth, 'unused'>;
  /** Probes in a row that speak for the other state. */
  against: number;
}

export const initialState = (health: TargetHealth | undefined): ProbeState => ({
  health: health === 'healthy' || health === 'unhealthy' ? health : 'initial',
  against: 0,
});

type Thresholds = Pick<HealthCheck, 'healthyThreshold' | 'unhealthyThreshold'>;

/** The state after one more probe. A new target is unhealthy with its first bad probe: it never was known to be good. */
export function afterProbe(state: ProbeState, good: boolean, { healthyThreshold, unhealthyThreshold }: Thresholds): ProbeState {
  if (good === (state.health === 'healthy')) {
    if (state.health !== 'initial' || good) return { health: state.health, against: 0 };
    return { health: 'unhealthy', against: 0 };
  }
  const against = state.against + 1;
  if (good) return against >= healthyThreshold ? { health: 'healthy', against: 0 } : { ...state, against };
  return against >= unhealthyThreshold ? { health: 'unhealthy', against: 0 } : { ...state, against };
}
