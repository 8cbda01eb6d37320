// Bounds and periods, units last in the name. Where AWS or its Go provider has a number for it, it is that number.

/** Size of one DescribeInstances request by id, and by private DNS name (AWS allows 200 values in a filter). */
export const instanceIdsMax = 500;
export const nodeNamesMax = 150;
/** A batch of questions leaves this long after the last one came, at most this long after the first. */
export const batchIdleMs = 100;
export const batchAgeMaxMs = 1_000;
/** Questions asked one by one after their batch failed, at a time. */
export const loneQuestionsMax = 10;

/** The most instances in one CreateTags or DeleteTags. */
export const taggedInstancesMax = 50;
/** The tagging controller: tries of one instance after its first failure, and how long a new Node's instance may be unknown to CreateTags. */
export const taggingRetriesMax = 9;
export const taggingGraceMs = 300_000;

/** How old the list of all instances may be that backends of load balancers are looked up in. */
export const backendsAgeMaxMs = 600_000;
/** How old what is known of subnets and route tables may be when subnets of load balancers are chosen. */
export const subnetsTtlMs = 30_000;
/** How old the list of all target groups may be that forgotten ones are looked for in. */
export const targetGroupsTtlMs = 30_000;
/** How many items one answer of the EC2 API has at most. */
export const pageItems = 1_000;
/** Answers to one question; more are a loop of tokens. */
export const pagesMax = 1_000;
/** The most items that are read of one list. */
export const listItemsMax = 100_000;

/** One call with all tries of the SDK, to the last byte of its answer. */
export const callTimeoutMs = 90_000;
export const answerBytesMax = 33_554_432;

/** How long «no topology here» is believed. */
export const topologyUnsupportedMs = 86_400_000;

/** Security groups of a load balancer that is being deleted stay in use for a while. */
export const groupDeletePeriodMs = 5_000;
export const groupDeleteMaxMs = 600_000;
/** How often, and at what interval, the creation of a security group is tried: another process may make it between our search and our creation. */
export const groupCreateTries = 30;
export const groupCreatePeriodMs = 1_000;

/** Targets in one RegisterTargets or DeregisterTargets, resources in one DescribeTags. */
export const targetsMax = 100;
export const taggedResourcesMax = 20;

/** Tries of one call, as in the SDK's standard mode: the longest wait before the second one, which doubles; what each takes from the tokens of all. */
export const retryTransientMs = 50;
export const retryThrottledMs = 1_000;
export const retryDelayMaxMs = 20_000;
export const retryTokens = 500;
export const retryCost = 14;
export const throttledRetryCost = 5;

/** Throttling: failures of the last while, halved in about a minute, slow down everything by at most this. */
export const throttleDelayMaxMs = 60_000;
export const throttleDecayPeriodMs = 20_000;
export const throttleDecay = 0.8;
export const throttleErrorsIgnored = 0.1;
/** What a controller is asked to wait at least after AWS said that it is asked too often. */
export const throttledRetryMs = 5_000;
/** A target group is still in use right after its load balancer is gone. */
export const inUseRetryMs = 5_000;

/** The longest wait for an answer of the instance metadata service. */
export const metadataTimeoutMs = 2_000;
export const metadataBytesMax = 65_536;
export const metadataTokenSeconds = 300;
