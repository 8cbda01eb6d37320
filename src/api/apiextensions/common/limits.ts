// Limits of the rules of schemas, as upstream's.
/** Longest text that a messageExpression may make. */
export const messageBytesMax = 5 * 1024;
