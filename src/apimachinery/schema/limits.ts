// Limits of reading untrusted JSON.

/** Nesting of one body. Upstream allows 10,000; a JavaScript stack does not. */
export const jsonDepthMax = 1000;

/** Unknown and duplicate fields reported for one body (sigs.k8s.io/json). */
export const strictErrorsMax = 100;
