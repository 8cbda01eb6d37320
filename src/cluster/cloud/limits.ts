// Bounds of the cloud under a cluster.

/** Between SIGTERM to the cloud's process and the end of patience. */
export const cloudStopTimeoutMs = 20_000;
/** Kept of what the process wrote, to say why it ended. */
export const cloudSaidMax = 2_000;
