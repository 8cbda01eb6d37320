// Bounds of the emulated API.

export const keyBits = 2_048;
/** How long clients stay with a backend. */
export const affinitySeconds = 600;
/** Work requests that are kept over restarts. */
export const workRequestsKept = 100;
