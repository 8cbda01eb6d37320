// Bounds and times of a component's own endpoints.

/** Answers of the apiserver about callers that are kept, of each kind. */
export const delegatedAnswersMax = 1_024;
/** An answer is kept unless the question has more characters than this (upstream's maxControlledAttrCacheSize; more, for tokens). */
export const delegatedKeyLengthMax = 16_384;
/** A bearer token of more characters is nobody's, and the apiserver is not asked: it does not look at them either. */
export const tokenLengthMax = 64 * 1024;
/** Questions to the apiserver that are open at the same time, of each kind, and callers that wait to be asked about. */
export const delegatedQuestionsMax = 32;
export const delegatedWaitingMax = 1_000;
/** How often the authorities published in kube-system/extension-apiserver-authentication are read again. */
export const lookupRefreshMs = 60_000;
/** The highest number of a TCP port. */
export const portMax = 65_535;
