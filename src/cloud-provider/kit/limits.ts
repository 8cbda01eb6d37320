// Defaults of the kit: how long a provider tries, waits and reads before a controller hears of it. A provider may give its own.

/** Tries of one call, the first one included. */
export const callAttemptsMax = 4;
/** One try, from sending the request to the last byte of its answer. */
export const callTimeoutMs = 30_000;
/** Upper bound of the wait before the second try; it doubles with each further one. */
export const retryBaseMs = 500;
export const retryWaitMaxMs = 8_000;
/** A cloud that wants to be left alone for longer than this is asked again by the controller, not by the call that waits. */
export const throttleWaitMaxMs = 10_000;
/** Delay asked of the controller after throttling that names no time. */
export const throttleDefaultMs = 30_000;
/** Longest delay that is asked of the controller, whatever the cloud names. */
export const throttleMaxMs = 300_000;

export const pagesMax = 1_000;
/** The most items that are read of one list. */
export const listItemsMax = 100_000;

export const pollEveryMs = 1_000;
export const pollEveryMaxMs = 10_000;
export const pollDeadlineMs = 300_000;
/** Polls that may fail in a row before the wait for an operation is given up. */
export const pollFailuresMax = 5;

/** Tries of a shared write that meets the writes of others. */
export const sharedWriteAttemptsMax = 5;
/** Items of a failed batch that are tried alone at the same time. */
export const loneItemsMax = 8;

export const cacheEntriesMax = 10_000;

export const answerBytesMax = 33_554_432;
export const secretBytesMax = 1_048_576;
/** How often a file with credentials is looked at for a newer version. */
export const secretFileLookMs = 10_000;

/** Causes followed when an error is looked into. */
export const causesMax = 16;
