// Bounds of a machine that is a node.

/** Between two looks whether somebody changed routes, rules or addresses. */
export const networkLookMs = 30_000;
export const networkRetryMs = 2_000;
/** Longest wait for the way in of a cluster, and between two tries. */
export const discoveryTimeoutMs = 5 * 60_000;
export const discoveryPollMs = 1_000;
/** The longest wait for one answer, with its body. */
export const discoveryAnswerMs = 15_000;
/** The largest cluster-info that is read: before the join anybody could have sent it. */
export const clusterInfoBytesMax = 256 * 1024;
/** Hashes of authorities that one sentence names. */
export const hashesToldMax = 4;
/** The longest wait until a joined machine's node is Ready. */
export const joinTimeoutMs = 120_000;
/** Pauses before the agent is started again. */
export const agentRestartMs = { first: 1_000, max: 30_000 };
/** How long pods that are evicted may take to end. */
export const drainTimeoutMs = 5 * 60_000;
export const drainPollMs = 500;
/** The lifetime of the token by which the first machine joins itself. */
export const ownTokenTtlMs = 15 * 60_000;
/**
 * The largest difference between the clocks of two control planes: a token of a service account is refused when it was signed later than a minute
 * from now.
 */
export const clocksApartMsMax = 60_000;
