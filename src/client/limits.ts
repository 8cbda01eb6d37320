// Bounds of the client room.

/** Events of one source about one object: bucket size and seconds for one more (client-go's EventSourceObjectSpamFilter). */
export const eventBurst = 25;
export const eventRefillSeconds = 300;
/** Similar events (same all but message) within this window are combined after this many. */
export const eventAggregateMax = 10;
export const eventAggregateWindowMs = 600_000;
/** The most keys of events that a recorder remembers, to count equal ones together and to hold floods back. */
export const eventCacheMax = 4096;
/** Names that are tried for an event. */
export const eventNamesMax = 16;
/** Events waiting to be written; more are dropped, oldest first. */
export const eventQueueMax = 1000;
/** Reflector back-off after a failed list or watch. */
export const reflectorBackoffMinMs = 800;
export const reflectorBackoffMaxMs = 30_000;
/** The longest back-off while no server answers at all. */
export const reflectorUnansweredBackoffMaxMs = 5_000;
/** Watch timeouts asked for: a random time in [min, 2 min), as client-go's reflector. */
export const watchTimeoutMinSeconds = 300;
/** Work queue back-off per key (client-go's DefaultTypedControllerRateLimiter). */
export const queueBackoffBaseMs = 5;
export const queueBackoffMaxMs = 1_000_000;
/** How long one request may wait for its answer. */
export const requestTimeoutMs = 60_000;
/** A token file is read again after this long. */
export const tokenReloadMs = 60_000;
/** The longest event of a watch that a client reads. */
export const watchLineBytesMax = 16 * 1024 * 1024;
/** Life asked for of the tokens that control loops act with. */
export const serviceAccountTokenSeconds = 3_600;
/** Longest wait for a certificate that was asked for (client-go). */
export const certificateWaitMs = 15 * 60_000;
/** The time between two checks whether a certificate is to be renewed. It is short because the machine's clock may be set meanwhile. */
export const certificateLookMs = 60_000;
/** Pauses before a certificate is asked for again. */
export const certificateRetryMs = { first: 1_000, max: 5 * 60_000 };
/** Files of a certificate that are kept, the one in use included. */
export const keptCertificatesMax = 3;
