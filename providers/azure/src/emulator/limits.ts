// Bounds of the emulated API.

export const tokenSeconds = 86_400;
/** Random bytes of a secret. */
export const secretBytes = 32;
/** Operations that are kept over restarts. */
export const operationsKept = 100;
