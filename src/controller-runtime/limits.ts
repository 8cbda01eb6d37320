// Bounds of the executor, and what both managers share.

/** Keys of one controller in work at the same time, unless it says otherwise. */
export const concurrencyDefault = 10;
/** Rounds of `needsLive` for one reconcile. */
export const liveRoundsMax = 4;
/** Longest time a key is held back until the cache has seen its own writes. */
export const holdBackMs = 30_000;
/** Decisions kept for explanation, per controller. */
export const decisionsMax = 5_000;
/** Uids remembered as deleted, for a loop over all resources. */
export const goneMax = 10_000;
/** The default of `--node-monitor-period`, which kube-controller-manager and cloud-controller-manager have. */
export const nodeMonitorPeriodMs = 5_000;
