// Bounds of vendors' APIs over the local cloud.

/** Health checks of the local cloud are at least this frequent: its targets are on the same machine. */
export const healthIntervalMaxMs = 2_000;
/** Public addresses that are had in advance: for what one request makes. */
export const spareAddresses = 1;
/** How long a client is asked to wait after a failure of the local cloud that names no time. */
export const retryAfterSeconds = 1;
/** How long a change waits for load balancers to serve, and how often it looks. */
export const servingWithinMs = 5_000;
export const servingPollMs = 50;
