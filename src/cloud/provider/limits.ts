// Bounds of the provider.

/** How long `ensureLoadBalancer` waits for a load balancer to be there, and how often it looks. */
export const activeTimeoutMs = 30_000;
export const activePollMs = 100;
/** Asked for when the cloud needs longer, or does not show yet what it has. */
export const tryAgainMs = 2_000;
/** The time between two searches for load balancers whose Service is gone. */
export const sweepPeriodMs = 600_000;
/** How long a token read from its file is used. */
export const tokenKeepMs = 10_000;
/** The default of upstream's session affinity. */
export const affinityTimeoutSecondsDefault = 10_800;
/** Where kube-proxy says whether a node can take traffic. */
export const kubeProxyHealthPort = 10_256;
