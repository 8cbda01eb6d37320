// Bounds of the emulated AWS, and numbers of the real one.

/** Parameters of one request, and parts of a parameter's name. */
export const parametersMax = 10_000;
/** Clients name the version of the API among the first parameters. */
export const versionWithinChars = 4_096;
export const parameterDepthMax = 12;
/** The largest difference between a request's time and the server's (Signature Version 4 allows five minutes each way). */
export const clockSkewMaxMs = 300_000;
/** Items of a page that names no number. */
export const pageItems = 1000;
/** Names of load balancers and target groups. */
export const balancerNameMax = 32;
/** Health checks of the local cloud are at least this frequent: its targets are on the same machine. */
export const healthIntervalMaxMs = 2_000;
/** How long the names of load balancers may be remembered. */
export const dnsTtlSeconds = 60;
