// Bounds of the audit log. Values are upstream's defaults where upstream has one (k8s.io/apiserver/pkg/server/options, audit.go).

/** Events that wait for a batch, and those of one batch of the webhook. */
export const bufferEventsMax = 10_000;
export const webhookBatchEventsMax = 400;
/** Text that waits, whatever the number of events. */
export const bufferBytesMax = 256 * 1024 * 1024;
export const batchWaitMs = 30_000;
export const batchesPerSecond = 10;
export const batchBurst = 15;
/** The defaults of --audit-*-truncate-max-batch-size and --audit-*-truncate-max-event-size. */
export const truncateBatchBytes = 10 * 1024 * 1024;
export const truncateEventBytes = 100 * 1024;
/** --audit-log-maxsize, -maxage, -maxbackup. */
export const logMegabytesMax = 100;
export const logDaysMax = 366;
export const logBackupsMax = 100;
/** Before the first repetition of a post that failed; then half as much again, up to so many posts. */
export const webhookBackoffMs = 10_000;
export const webhookBackoffFactor = 1.5;
export const webhookBackoffJitter = 0.2;
export const webhookAttemptsMax = 5;
/** How long one post may take, and what is read of its answer. */
export const webhookTimeoutMs = 30_000;
export const webhookAnswerBytesMax = 1024 * 1024;
