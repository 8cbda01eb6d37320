// Bounds of the client.

/** From sending a request to the end of its answer, unless the caller says otherwise. */
export const requestTimeoutMs = 30_000;
/** How long an answer may be. */
export const responseBytesMax = 32 * 1024 * 1024;
/** Taken from `Retry-After`, which may be anything. */
export const retryAfterMsMax = 600_000;
