// Bounds of what the provider asks of Baidu AI Cloud, and the values that cloud-provider-baiducloud takes where nobody gives one.

/** A page of a list may have 1,000 items. */
export const pageItems = 1_000;
export const requestsPerSecond = 20;
export const requestsBurst = 40;
export const requestTimeoutMs = 30_000;
/** How long a signature of a request is valid. */
export const expireSeconds = 1_800;

/** How long a list of instances counts. */
export const instancesTtlMs = 15_000;

export const nameCharactersMax = 65;
/** The longest description of a rule. */
export const descriptionCharactersMax = 450;
export const backendsMax = 50;
/** The most backends that one request adds or removes; more take several requests. */
export const backendsOfRequestMax = 50;
export const backendWeight = 100;

export const checkTimeoutSeconds = { default: 3, min: 1, max: 60 };
export const checkIntervalSeconds = { default: 3, min: 1, max: 10 };
export const checkThreshold = { default: 3, min: 2, max: 5 };

export const trafficMbpsMax = 1_000;
export const bandwidthMbpsMax = 200;
export const reservationMonths = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 24, 36];

/** Load balancers and addresses become available in their own time. */
export const settleEveryMs = 1_000;
export const settleDeadlineMs = 60_000;
export const settleAgainMs = 5_000;
/** So long after an attempt to make something, that the API does not show it is no proof that it does not exist. */
export const unsettledMs = 30_000;
/** The most Services whose last load balancer is remembered. */
export const rememberedMax = 10_000;
