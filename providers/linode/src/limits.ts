// Bounds of what the provider asks of Linode, and the values that linode-cloud-controller-manager takes where nobody gives one.

/** The API allows 500 items in a page. */
export const pageItems = 500;
/** An account may send 1,600 requests in two minutes (https://techdocs.akamai.com/linode-api/reference/rate-limits). */
export const requestsPerSecond = 13;
export const requestsBurst = 50;
/** Lists have a rate of their own: 200 in a minute. */
export const listsPerSecond = 3.3;
export const listsBurst = 30;

export const requestTimeoutSeconds = 120;
export const instanceTtlSeconds = 15;
export const routesTtlSeconds = 60;
/** How often the notes on a Node are compared with its Linode. */
export const metadataTtlSeconds = 300;
/** How long VPCs and their subnets are believed that were read: new ones come rarely. */
export const vpcsTtlMs = 600_000;
export const tokenCheckMs = 300_000;

export const labelCharactersMax = 32;
export const labelCharactersMin = 3;
/** What is left of 32 characters beside a dash and twelve digits. */
export const prefixCharactersMax = 19;
export const throttleMax = 20;
export const nodeWeight = 100;
export const checkIntervalSeconds = 5;
export const checkTimeoutSeconds = 3;
export const checkAttempts = 2;
export const udpCheckPort = 80;

export const addressesOfRuleMax = 255;
export const rulesOfFirewallMax = 25;
export const ruleDescriptionCharactersMax = 100;
/** Ports and ranges that one rule of a firewall takes. */
export const portsOfRuleMax = 15;

/** So long after an attempt to make something, that the API does not show it is no proof that it does not exist. */
export const unsettledMs = 30_000;
/** Delay asked of the controller while that is so. */
export const unsettledAgainMs = 5_000;
/** How long a thing whose label is taken is looked for, while the API may not show it yet. */
export const appearMs = 10_000;
/** How many names one message shows. */
export const namesShown = 3;
