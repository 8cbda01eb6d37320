// What the pod workers need of probes. `real.ts` runs them; a simulated runtime answers for itself.
import type { Pod } from '#api/core/v1';
import type { PodRecord } from '../container/types.ts';
import type { ProbeResults } from '../pod/probe-results.ts';

export interface ProbeManager {
  readonly results: ProbeResults;
  /** Starts probing the pod's running containers and forgets those that are gone. */
  sync(pod: Pod, record: PodRecord): void;
  /** The pod is being ended: only readiness goes on. */
  stopLivenessAndStartup(pod: Pod): void;
  remove(pod: Pod): void;
  /** GET /metrics/probes. */
  metrics(): Promise<string>;
  close(): void;
}
