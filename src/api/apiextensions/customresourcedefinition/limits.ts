// Limits of definitions of custom resources, as upstream's.
export const selectableFieldsMax = 8;
export const deprecationWarningBytesMax = 256;
/** Work to compile the patterns and rules of all schemas of a definition, in units of `#regexp`: some 500 patterns of usual length, or 40,000 tokens of CEL.
 * Upstream has no such limit. */
export const patternWorkUnits = 20_000_000;
