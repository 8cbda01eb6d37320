// Bounds of the EndpointSlice mirror.

/** The default of `--mirroring-max-endpoints-per-subset`. */
export const endpointsPerSubsetMax = 1000;
