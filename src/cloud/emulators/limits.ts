// Bounds of emulators.

/** How long a request may be. */
export const requestBytesMax = 512 * 1024;
/** Connections of one address: managers are on this machine, so all of them share one. */
export const connectionsPerAddressMax = 512;
/** Between being told to end and cutting clients off. */
export const closeGraceMs = 500;
