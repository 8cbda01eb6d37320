// Limits of quantities (k8s.io/apimachinery/pkg/api/resource).

/** Smallest power of ten a quantity keeps; finer parts round away from zero. */
export const smallestScale = -9;

/** Binary quantities saturate here: 2^63 - 1. */
export const binaryMax = 2n ** 63n - 1n;

/** Parsed texts kept for reuse; the memo is emptied when full. */
export const memoEntriesMax = 4096;

/** Longest text parsed. Upstream has none; beyond this the exact arithmetic could be made to work for seconds. */
export const textLengthMax = 1024;

/** Largest decimal exponent worked with, for the same reason. */
export const exponentMax = 1024;
