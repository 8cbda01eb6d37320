// Bounds of the CRI room.

/** How long a call may take; sandboxes and image pulls are longer (upstream runtimeRequestTimeout, image progress deadline). */
export const callTimeoutMs = 120_000;
export const sandboxTimeoutMs = 240_000;
export const pullTimeoutMs = 15 * 60_000;
/** Added to a stop's grace before the call is given up. */
export const stopSlackMs = 120_000;
/** One message: a list of thousands of containers (upstream maxMsgSize). */
export const messageBytesMax = 16 * 1024 * 1024;
/** The time between attempts to get the event stream back. */
export const eventsRetryMs = 1_000;
/** An event stream that has not been refused for so long counts as accepted: runtimes say nothing until there is an event. */
export const eventsAcceptedMs = 2_000;
