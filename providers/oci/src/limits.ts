// Bounds of what the provider asks of OCI.

/** Items of a page; the API allows 1000 at most. */
export const pageItems = 100;
/** Of `rateLimiter`, as upstream has them (oci-cloud-controller-manager docs/rate-limiter-configuration.md). */
export const requestsPerSecond = 20;
export const requestsBurst = 5;
/** A request that finds no answer. */
export const requestTimeoutMs = 60_000;
/** How long a call waits for a work request; the controller calls again afterwards, and finds it under way. */
export const workRequestDeadlineMs = 600_000;
export const workRequestAgainMs = 15_000;
/** When the controller is to try again while something else works on the same resource. */
export const busyAgainMs = 5_000;
/** How long a subnet that was read is believed: they rarely change. */
export const subnetTtlMs = 300_000;
/** Attachments of VNICs, which are looked through for a Node whose instance has another name. */
export const attachmentsTtlMs = 30_000;
/** Retry tokens of one thing that was made, deleted and made again. */
export const retryTokensMax = 16;
/** Tries of a security list that somebody else writes as well. */
export const securityListTriesMax = 6;
/** The API takes so many rules of a network security group in one request. */
export const groupRulesMax = 25;
/** The most network security groups that one load balancer has. */
export const groupsMax = 5;
export const displayNameCharactersMax = 1_024;
export const groupNameCharactersMax = 255;
export const bandwidthMinMbps = 10;
export const bandwidthMaxMbps = 8_192;
/** Where kube-proxy says whether its node serves (KEP-3836). */
export const nodesHealthPort = 10_256;
export const defaultShape = '100Mbps';
export const idleTimeoutTcpSeconds = 300;
export const idleTimeoutHttpSeconds = 60;
export const metadataTimeoutMs = 5_000;
/** How long the API may take to show what was done. */
export const unsettledMs = 60_000;
/** The size of the key that a session token is bound to. */
export const sessionKeyBits = 3_072;
/** A session token is replaced so long before it ends. */
export const sessionTokenEarlyMs = 300_000;
export const tokenTimeoutMs = 10_000;
