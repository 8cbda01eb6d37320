// Bounds of the DaemonSet loop.

/** A failed daemon pod is deleted at once; the next one on that node after this long, doubling with each. */
export const failedPodBackoffMs = 1_000;
export const failedPodBackoffMaxMs = 900_000;
