// Limits of one endpoint slice (pkg/apis/discovery/validation).
export const endpointsMax = 1000;
export const addressesMax = 100;
export const portsMax = 20_000;
export const topologyLabelsMax = 16;
/** Zones, and nodes, an endpoint is meant for. */
export const hintsMax = 8;
