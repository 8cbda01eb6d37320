// Bounds of a node's agent.

/** The longest wait until containerd accepts connections. */
export const containerdTimeoutMs = 30_000;
export const containerdPollMs = 10;
/** Kept of a program's error output, to say why it ended. */
export const stderrTailBytesMax = 4_096;
/** Pauses before a program of a node that has ended is started again: doubled each time, the first again after a long enough life. */
export const restartMs = { first: 1_000, max: 30_000, forgivenAfter: 60_000 };
/** Between two looks whether the apiserver answers yet, when a node boots before it. */
export const apiserverPollMs = 25;
/** The time between two resolutions of the control plane's name. */
export const nameLookMs = 1_000;
/** Processes and threads of one pod: nodes share the machine's process table, and no pod may fill it (CIS Kubernetes Benchmark 4.2.13). */
export const podPidsMax = 4_096;
/** The longest wait until a mount is made. */
export const mountTimeoutMs = 10_000;
/** Longest wait for what a name means. */
export const nameLookupTimeoutMs = 2_000;
/** Where a node says without authentication that its kubelet is well. */
export const kubeletHealthz = { host: '127.0.0.1', port: 10_248 };
/** The longest file of a node's disk that this machine's programs read: its configuration, a certificate, a kubeconfig. */
export const diskFileBytesMax = 256 * 1_024;
