// Bounds of the cloud under a cluster.

/** Between SIGTERM to the cloud's process and the end of patience. */
export const cloudStopTimeoutMs = 20_000;
/** Pauses before the cloud's process is started again: doubled each time, the first again after a long enough life. */
export const cloudRestartMs = { first: 250, max: 30_000, forgivenAfter: 60_000 };
/** Kept of what the process wrote, to say why it ended. */
export const cloudSaidMax = 2_000;
