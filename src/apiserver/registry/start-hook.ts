// What is done once when the apiserver starts.
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import type { ClusterWriter } from './writer.ts';

/** Done once when the apiserver starts, before it reports ready (upstream's PostStartHook). */
export interface StartHook {
  /** Shown as the health check `poststarthook/<name>`. */
  name: string;
  /** The name of the earlier hook whose work this one needs; '' where it needs none. Default: the one before it in the list. */
  after?: string;
  /** Upstream runs it as a control loop: while it fails it is tried again for as long as the server runs, which is live meanwhile. */
  loop?: true;
  run(cluster: ReadOnlyCluster, writer: ClusterWriter, signal: AbortSignal): Promise<void>;
}
