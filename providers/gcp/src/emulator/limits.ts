// Bounds of the emulated API.

/** How far the clock of one who signs may be off. */
export const skewSeconds = 300;
export const keyBits = 2_048;
/** How long clients stay with an instance. */
export const affinitySeconds = 600;
