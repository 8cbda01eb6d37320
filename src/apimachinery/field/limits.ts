// Limits on what is told of an object that breaks rules: whoever sends thousands of bad items learns of the first ones. Upstream has none.

/** Failures of one object that are looked for. */
export const fieldErrorsMax = 500;
/** Characters of their texts; the last one may go beyond. */
export const errorTextCharsMax = 256 * 1024;
