// Bounds of the StatefulSet loop.

/** Pods that one pass makes where the policy is Parallel. Upstream's has no bound; a set may want two thousand million. */
export const podsPerPassMax = 500;
