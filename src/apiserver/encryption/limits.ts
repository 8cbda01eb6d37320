// Bounds of encryption in the store; upstream's where it has one.

/** Between looks at a KMS plugin that answers, and at one that does not. */
export const kmsProbeMs = { healthy: 60_000, unhealthy: 10_000 };
/** How long the answer of a health check stands. */
export const kmsHealthMs = { healthy: 20_000, unhealthy: 3_000 };
/** A KMS plugin that has not answered is asked for no seed for so long, unless it says before that it is there: until the next look at one that is not well. */
export const kmsSilenceMs = 10_000;
/** Writes go on for so long after a KMS plugin was last well. */
export const kmsWriteMs = 180_000;
/** Decrypted seeds are remembered for so long, and so many of them. */
export const seedCacheMs = 24 * 3_600_000;
export const seedsMax = 10_000;
/** The longest key ID, encrypted seed and annotations that a KMS plugin may answer. */
export const keyIdBytesMax = 1024;
export const encryptedSeedBytesMax = 1024;
export const annotationsBytesMax = 32 * 1024;
/** What a KMS plugin says is told up to so many characters, in health checks and logs. */
export const pluginTextMax = 1024;
/** A seed; larger ones are used as they are. */
export const seedBytes = 32;
/** How long a changed configuration's plugins may take to be well before it is put into effect, at least. */
export const reloadHealthMs = { wait: 10_000, again: 100 };
