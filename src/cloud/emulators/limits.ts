// Bounds of emulators.

/** How long a request may be. */
export const requestBytesMax = 512 * 1024;
/** Connections of one address: managers are on this machine, so all of them share one. */
export const connectionsPerAddressMax = 2_048;
/** How long a body may take from the first to the last byte: who sends them is on this machine. */
export const bodyTimeoutMs = 5_000;
/** The time that clients have between the signal to end and being cut off. */
export const closeGraceMs = 500;
