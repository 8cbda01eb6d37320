// Limits on the failures that an answer lists for one invalid object. Upstream has no such limits.

/** Failures of one object that are looked for. */
export const fieldErrorsMax = 500;
/** Characters of their texts; the last one may go beyond. */
export const errorTextCharsMax = 256 * 1024;
