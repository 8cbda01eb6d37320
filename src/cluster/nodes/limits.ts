// Bounds of what a node is made of, and of its ways to the apiserver.

/** The longest wait until containerd accepts connections. */
export const containerdTimeoutMs = 30_000;
export const containerdPollMs = 10;
/** Kept of a program's error output, to say why it ended. */
export const stderrTailBytesMax = 4_096;
/** Pauses before a program of a node that has ended is started again: doubled each time, the first again after a long enough life. */
export const restartMs = { first: 1_000, max: 30_000, forgivenAfter: 60_000 };
/** The time between two resolutions of the control plane's name. */
export const nameLookMs = 1_000;
/** Longest wait for what a name means. */
export const nameLookupTimeoutMs = 2_000;
/** The longest file of a node's disk that this machine's programs read: its configuration, a certificate, a kubeconfig. */
export const diskFileBytesMax = 256 * 1_024;
/**
 * Times of the connections to apiservers: between two checks of the one in use, longest wait for a connection and for an answer, idle time of a
 * connection, and between two readings of the list of apiservers.
 */
export const waysMs = { look: 500, connect: 2_000, answer: 750, keepAlive: 30_000, learn: 10_000 };
/** Looks in a row without an answer, and a way is left. */
export const waysFailuresMax = 2;
