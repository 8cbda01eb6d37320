// Bounds of kube-proxy.

/** Changes within this window become one sync (`--iptables-min-sync-period`). */
export const minSyncPeriodMs = 1_000;
/** The first sync after a quiet time comes this soon, so that single changes are not slow. */
export const coalesceMs = 20;
/** All rules are written anew this often, in case somebody else changed them (`--iptables-sync-period`). */
export const syncPeriodMs = 30_000;
/** Wait before the next attempt after a failed sync. */
export const retryMs = 1_000;
/** The longest time that one run of iptables-restore may take. */
export const applyTimeoutMs = 60_000;
/** `-w`: seconds to wait for the xtables lock. */
export const lockWaitSeconds = 5;
/** Rules, about, of one Service: ports and addresses are multiplied with each other, and one Service is not to hold up all others. */
export const rulesOfServiceMax = 50_000;
export const healthzPort = 10256;
export const metricsPort = 10249;
