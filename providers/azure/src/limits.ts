// Bounds of what the provider asks of Azure.

export const answerBytesMax = 33_554_432;
/** Things in a list; a list that goes on is an error. */
export const listItemsMax = 100_000;
export const listPagesMax = 1_000;
/** Azure says «come back in 10 s» of most operations; a load balancer takes a few seconds, a scale set a minute. */
export const operationDeadlineMs = 600_000;
export const operationEveryMs = 1_000;
export const operationAgainMs = 10_000;
/** Requests in a second that one client may send (upstream has no bound unless `cloudProviderRateLimit`). Azure refills 25 writes in a second. */
export const requestsPerSecond = 20;
export const requestsBurst = 100;
/** Of `cloudProviderRateLimit`, where the configuration gives no numbers. */
export const rateLimitQpsDefault = 1;
export const rateLimitBucketDefault = 5;
/** Of `cloudProviderBackoff`, where the configuration gives no numbers. */
export const backoffRetriesDefault = 6;
export const backoffSecondsDefault = 5;
/** How long the machines of the resource groups are believed that were read for names and backends. */
export const vmCacheSecondsDefault = 60;
export const vmssCacheSecondsDefault = 600;
/** How long a name that no machine has is not looked for again. */
export const missingTtlMs = 10_000;
/** Network interfaces of single machines that are changed at a time. */
export const interfaceWritesMax = 10;
/** How many names of Nodes one message shows. */
export const namesShown = 3;

export const rulesOfBalancerMax = 250;
export const nameCharactersMax = 80;
/** The length of `-IPv4` and `-IPv6`, for which names leave room. */
export const familySuffixCharacters = 5;
/** Priorities of security rules that belong to load balancers, the last one excluded. */
export const priorityMin = 500;
export const priorityMax = 4_096;
export const securityRulesMax = 1_000;
export const securityAddressesMax = 4_000;
export const idleMinutesMin = 4;
export const idleMinutesMax = 100;
export const idleMinutesDefault = 4;
export const probeIntervalSeconds = 5;
export const probeIntervalSecondsMin = 5;
export const probesFailedDefault = 2;
export const probesFailedMin = 2;
/** Interval times number of a probe is less than this. */
export const probeSecondsMax = 120;
/** Where kube-proxy says whether its node serves (KEP-3836). */
export const nodesHealthPort = 10_256;
