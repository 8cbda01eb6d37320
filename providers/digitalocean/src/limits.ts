// Bounds of what the provider asks of DigitalOcean's API.

/** One request, from sending it to the last byte of the answer. */
export const requestTimeoutMs = 30_000;
/** Requests under way at a time; the others wait their turn. */
export const requestsAtOnceMax = 8;
/** The longest wait for the metadata service of the machine that this runs on, and the longest answer. */
export const metadataTimeoutMs = 5_000;
export const metadataBytesMax = 65_536;
/** The API allows 200; objects can be large, so upstream asks for 50. */
export const pageItems = 50;
export const pagesMax = 1_000;
/** The most items that are read of one list. */
export const listItemsMax = 100_000;
export const responseBytesMax = 33_554_432;
/** Longest wait asked for after a 429; the API may name up to an hour. */
export const throttledMaxMs = 300_000;
/** How long a client waits after a 429 that names no time. */
export const throttledDefaultMs = 60_000;
/** How soon a load balancer that is being made is looked at again. */
export const creationRetryMs = 15_000;
export const tagSyncPeriodMs = 900_000;
export const firewallPeriodMs = 300_000;
/** Changes of Services within this time are one change of the firewall. */
export const firewallDelayMs = 1_000;
export const firewallRetryMinMs = 1_000;
export const firewallRetryMaxMs = 300_000;
/** How many names of Nodes one message shows. */
export const namesShown = 3;
