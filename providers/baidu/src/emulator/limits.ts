// Bounds of the emulated API.

/** How many random bytes each half of the keys has. */
export const keyBytes = 16;
