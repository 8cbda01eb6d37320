// Bounds and times of a component's own endpoints.

/** Answers of the apiserver about callers that are kept, of each kind. */
export const delegatedAnswersMax = 1_024;
/** How often the authorities published in kube-system/extension-apiserver-authentication are read again. */
export const lookupRefreshMs = 60_000;
/** The highest number of a TCP port. */
export const portMax = 65_535;
