// Bounds of what the provider asks of Google Cloud.

/** The API allows 500 items in a page. */
export const pageItems = 500;
/** A request that waits for an operation is answered after two minutes at the latest. */
export const operationWaitMs = 140_000;
export const operationDeadlineMs = 600_000;
export const operationAgainMs = 10_000;
/** Requests in a second to one project; Google allows 25 for each kind of request. */
export const requestsPerSecond = 20;
export const requestsBurst = 50;
/** How long the instances of the zones are believed that were read for backends and tags. */
export const instancesTtlMs = 60_000;
/** How long the zones of a region are believed that were read: new ones come rarely. */
export const zonesTtlMs = 600_000;
/** Members of a shared instance group, while many Services are brought in line at once. */
export const groupMembersTtlMs = 10_000;
export const targetPoolCreateMax = 200;
export const targetPoolUpdateMax = 1_000;
export const instanceGroupMax = 1_000;
/** More ports than these of an internal forwarding rule are all ports. */
export const internalPortsMax = 5;
export const clusterNameCharactersMax = 26;
/** Tries of «read, compare, write» where somebody else writes the same. */
export const ensureTriesMax = 3;
export const metadataTimeoutMs = 5_000;
/** The alternate token source is asked so often at most (upstream: 0.05 in a second, three at once). */
export const tokenRequestsPerSecond = 0.05;
export const tokenRequestsBurst = 3;
/** A token is replaced so long before it ends. */
export const tokenEarlyMs = 60_000;
/** How many names of Nodes one message shows. */
export const namesShown = 3;
export const intervalSeconds = 8;
export const timeoutSeconds = 1;
export const healthyThreshold = 1;
export const unhealthyThreshold = 3;
/** Where kube-proxy says whether its node serves (KEP-3836). */
export const nodesHealthPort = 10_256;
export const firewallPriority = 1_000;
