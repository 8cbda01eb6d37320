// Times of the loop that attaches and detaches (pkg/controller/volume/attachdetach DefaultTimerConfig, pkg/volume/csi csiTimeout,
// pkg/util/goroutinemap/exponentialbackoff).

/** How long a node that is not ready keeps a volume it has not reported unmounted. */
export const waitForUnmountMaxMs = 360_000;
/** How long a driver may take before an attempt counts as failed. */
export const driverTimeoutMs = 120_000;
/** Wait after the first failed attempt; doubled with each. */
export const retryBaseMs = 500;
export const retryMaxMs = 122_000;
/** An attempt looks at its attachment this long after it began. */
export const firstLookMs = 500;
