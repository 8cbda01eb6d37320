// Bounds of the scheduler's shell.

/** Back-off of a pod after its first failed attempt, doubled by each further one (podInitialBackoffSeconds). */
export const podInitialBackoffMs = 1_000;
/** The default of podMaxBackoffSeconds. */
export const podMaxBackoffMs = 10_000;
/** A pod that no event moved is tried again after this long. */
export const unschedulableTimeoutMs = 300_000;
/** How often that is looked at. */
export const unschedulableFlushMs = 30_000;
/** Bindings asked for and not yet answered; more pods wait. */
export const bindingsInFlightMax = 256;
/** Longest time the loop decides without letting others run. */
export const sliceMs = 5;
/** Events that waiting pods have not been asked about yet; with one more, all of them are tried again. */
export const eventsBehindMax = 1_000;
/** Longest note of an event; longer ones are cut (events.k8s.io). */
export const eventNoteBytesMax = 1024;
/** The most decisions that are kept for `sagong explain`. */
export const decisionsMax = 1_000;
/** How late the leader may renew before /healthz says so. */
export const leaderHealthSlackMs = 20_000;
