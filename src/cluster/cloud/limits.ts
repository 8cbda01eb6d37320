// Bounds of the cloud under a cluster.

/** The time between SIGTERM to the cloud's process and SIGKILL. */
export const cloudStopTimeoutMs = 20_000;
/** Kept of what the process wrote, to say why it ended. */
export const cloudSaidMax = 2_000;
