// Bounds of a test server.

export const bodyBytesMax = 4_194_304;
/** At least as many requests are remembered for tests to look at, and at most twice as many. */
export const seenRequestsMax = 10_000;
/** Timers of the hasty clock up to this fire at once. */
export const soonMs = 1_000;
/** Turns of the event loop after each timer of the manual clock. */
export const turnsAfterTimer = 4;
/** Of an account, that are remembered: as long as anybody asks how they ended. */
export const operationsMax = 10_000;
