// Bounds of a node's agent.

/** Between two looks whether the apiserver answers yet, when a node boots before it. */
export const apiserverPollMs = 25;
/** Processes and threads of one pod: nodes share the machine's process table, and no pod may fill it (CIS Kubernetes Benchmark 4.2.13). */
export const podPidsMax = 4_096;
/** The longest wait until a mount is made. */
export const mountTimeoutMs = 10_000;
/** Where a node says without authentication that its kubelet is well. */
export const kubeletHealthz = { host: '127.0.0.1', port: 10_248 };
