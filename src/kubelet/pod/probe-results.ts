// What probes have found, by container id (upstream prober/results).

export type ProbeKind = 'liveness' | 'readiness' | 'startup';
export type ProbeResult = 'success' | 'failure' | 'unknown';

/** `get` is undefined when there is no such probe, or it has not been set up for that container. */
export interface ProbeResults {
  get(containerId: string, kind: ProbeKind): ProbeResult | undefined;
}

export const noProbes: ProbeResults = { get: () => undefined };
