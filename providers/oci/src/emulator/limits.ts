// Bounds of the emulated API.

export const keyBits = 2_048;
/** The most work requests that are kept over restarts. */
export const workRequestsKept = 100;
