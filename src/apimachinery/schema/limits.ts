// Limits of reading untrusted JSON.

/** Nesting of one body. Upstream allows 10,000; a JavaScript stack does not. */
export const jsonDepthMax = 1000;

/** Unknown and duplicate fields reported for one body (sigs.k8s.io/json). */
export const strictErrorsMax = 100;

/**
 * Brackets, strings and commas of one JSON text (scalars and collections of one YAML document). Each step of a request costs the more time
 * the more values there are, however small: with so many none takes longer than 50 ms. The largest objects that are in use, definitions of
 * custom resources that fill what the store takes, have less than half as many.
 */
export const jsonValuesMax = 150_000;

/** Characters that are read, and values that are written, between two pauses of what may be megabytes long. */
export const jsonStepChars = 64 * 1024;
export const jsonStepValues = 4_000;

/** Keys of one such object: the runtime takes 50 ms to copy, or to list, some 100,000 of them. */
export const jsonKeysMax = 10_000;
