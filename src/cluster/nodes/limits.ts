// Bounds of node start and stop.

/** From the request to PID 1 of the node. */
export const nodeBootTimeoutMs = 20_000;
/** Until containerd accepts connections. */
export const containerdTimeoutMs = 30_000;
export const containerdPollMs = 10;
/** Until every process of a killed node is gone. */
export const nodeStopTimeoutMs = 10_000;
/** Kept of a program's error output, to say why it ended. */
export const stderrTailBytesMax = 4_096;
/** One run of ip, iptables and the like. */
export const commandTimeoutMs = 20_000;
/** Pauses before a program of a node that has ended is started again: doubled each time, the first again after a long enough life. */
export const restartMs = { first: 1_000, max: 30_000, forgivenAfter: 60_000 };
/** Between two looks whether the apiserver answers yet, when a node boots before it. */
export const apiserverPollMs = 25;
