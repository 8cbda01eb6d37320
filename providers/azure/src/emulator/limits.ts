// Bounds of the emulated API.

export const tokenSeconds = 86_400;
/** How many random bytes a secret has. */
export const secretBytes = 32;
/** The most operations that are kept over restarts. */
export const operationsKept = 100;
