// Bounds of the EndpointSlice loop.

/** The default of `--max-endpoints-per-slice`. */
export const endpointsPerSliceMax = 100;
/** A pod can be seen before its node: look again. */
export const missingNodeRetryMs = 1_000;
