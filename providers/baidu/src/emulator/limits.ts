// Bounds of the emulated API.

/** Random bytes of each half of the keys. */
export const keyBytes = 16;
