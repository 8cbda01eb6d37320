// Bounds of the kubelet room.

/** Crash-loop back-off of a container (upstream initialCrashLoopBackOff, MaxCrashLoopBackOff). */
export const crashLoopBackoffInitialMs = 10_000;
export const crashLoopBackoffMaxMs = 300_000;
/** Image pull back-off (upstream imageBackOffPeriod, MaxImageBackOff). */
export const imageBackoffInitialMs = 10_000;
export const imageBackoffMaxMs = 300_000;
/** A pod whose sync failed is tried again after this (upstream backOffPeriod). */
export const syncRetryMs = 10_000;
/** Retry after a failure that is expected to pass soon (upstream backOffOnTransientErrorPeriod). */
export const syncRetryTransientMs = 1_000;
/** Least grace given to a container that is stopped. */
export const gracePeriodSecondsMin = 2;
/** All termination messages of a pod together, and of one container. */
export const podTerminationMessageBytesMax = 12 * 1024;
export const containerTerminationMessageBytesMax = 4 * 1024;
export const containerTerminationLogLinesMax = 80;
export const containerTerminationLogBytesMax = 2048;
/** Node lease: renewed four times within its duration (upstream nodeLeaseRenewIntervalFraction). */
export const leaseDurationSeconds = 40;
export const leaseRenewFraction = 0.25;
/** Node status is computed this often and reported at least this often. */
export const nodeStatusUpdateMs = 10_000;
export const nodeStatusReportMs = 300_000;
export const nodeStatusRetries = 5;
/** The shortest and the longest pause between tries to register the node. */
export const registerBackoffMinMs = 100;
export const registerBackoffMaxMs = 7_000;
/** The most names of one image that the Node's status has. */
export const imageNamesMax = 5;
export const nodeStatusImagesMax = 50;
/** How many pods a node runs by default. */
export const podsMax = 110;
/** How often all containers of the runtime are listed although it tells of changes, in case that an event was lost. */
export const relistMs = 10_000;
export const relistWithoutEventsMs = 1_000;
/** While runtime or network are not ready: a node should not wait for its network longer than it takes. */
export const unhealthyRelistMs = 250;
/** Status updates waiting for the API are retried after this. */
export const statusRetryMs = 1_000;
/** Length limits of an exec probe's or hook's kept output. */
export const probeOutputBytesMax = 10 * 1024;
/** Housekeeping: eviction and log sizes, volume contents, images. */
export const housekeepingMs = 10_000;
export const volumeRefreshMs = 60_000;
/** Least time between two tries to renew a token. */
export const tokenRetryMs = 1_000;
export const imageCollectMs = 300_000;
/** Younger images are never collected (upstream imageMinimumGCAge). */
export const imageAgeMsMin = 120_000;
/** Pressure is reported for so long after it has gone (upstream evictionPressureTransitionPeriod). */
export const pressureTransitionMs = 300_000;
/** How long the containers of a pod may take to end on a hard eviction. */
export const evictionGraceSeconds = 1;
/** One question to a plugin, and one change that a CSI driver makes (upstream csiTimeout). */
export const csiCallMs = 15_000;
export const csiStageMs = 120_000;
/** Mounting the file system of a device, and making one. */
export const mountDeviceMs = 60_000;
export const formatDeviceMs = 600_000;
/** What is in a volume is asked of its driver at most this often (upstream volumeStatsAggPeriod). */
export const volumeStatsMs = 60_000;
/** Sockets of plugins: how often their directory is read without notice. */
export const pluginPollMs = 5_000;
/** Tries to write a CSINode that others write, too. */
export const csiNodeRetries = 5;
/** How long a pod waits for the control plane to attach a volume, until its next try. */
export const attachPatienceMs = 30_000;
/** Static pods: how often their directory is read without notice, and their mirrors looked at (upstream fileCheckFrequency). */
export const manifestPollMs = 20_000;
export const mirrorCheckMs = 1_000;
/** For how long, and how often, a claim that is not bound is read again before it is an error (upstream podAttachAndMountRetryInterval). */
export const claimPatienceMs = 300;
export const claimPollMs = 100;
