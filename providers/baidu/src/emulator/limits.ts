// Bounds of the emulated API.

/** How long clients stay with a backend where the scheduler is `Hash`. */
export const affinitySeconds = 600;
/** Random bytes of each half of the keys. */
export const keyBytes = 16;
