// Bounds of the EndpointSlice mirror.

/** `--mirroring-max-endpoints-per-subset`. */
export const endpointsPerSubsetMax = 1000;
