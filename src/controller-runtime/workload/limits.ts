// Bounds of the workload loops, as upstream's.

/** Pods one reconcile creates or deletes. */
export const burstReplicasMax = 500;
