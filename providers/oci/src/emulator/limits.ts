// Bounds of the emulated API.

export const keyBits = 2_048;
/** Work requests that are kept over restarts. */
export const workRequestsKept = 100;
