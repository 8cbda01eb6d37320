// Limits of jobs (pkg/apis/batch/validation).
export const indexedParallelismMax = 100_000;
export const failedIndexesMax = 100_000;
/** Above so many completions the two limits below hold. */
export const completionsSoftMax = 100_000;
export const highCompletionsParallelismMax = 10_000;
export const highCompletionsFailedIndexesMax = 10_000;
export const failurePolicyRulesMax = 20;
export const exitCodesMax = 255;
export const podConditionsMax = 20;
export const managedByCharactersMax = 63;
export const successPolicyRulesMax = 20;
export const succeededIndexesBytesMax = 64 * 1024;
