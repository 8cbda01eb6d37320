// Bounds of the Job loop, as upstream's.

/** Pods one reconcile creates or deletes. */
export const podsPerSyncMax = 500;
/** Finished pods a status holds before they are counted. */
export const uncountedPodsMax = 500;
/** Wait before a failed pod is replaced: doubles with each failure. */
export const podBackoffMs = 10_000;
export const podBackoffMaxMs = 600_000;
