// Bounds of a test server.

export const bodyBytesMax = 4_194_304;
/** Requests that are remembered for tests to look at. */
export const seenRequestsMax = 20_000;
/** Timers of the hasty clock up to this fire at once. */
export const soonMs = 1_000;
/** Turns of the event loop after each timer of the manual clock. */
export const turnsAfterTimer = 4;
