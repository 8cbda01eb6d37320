// Limits of reading and writing bodies.

/** Nesting of messages in one protobuf body. */
export const messageDepthMax = 1000;

/** One watch frame a client accepts; upstream's frame reader has the same limit. */
export const frameBytesMax = 16 * 1024 * 1024;

/** Scalars and collections of one YAML document, with those that its aliases stand for; each costs several times what one of JSON does. */
export const yamlValuesMax = 100_000;

/** Tokens of one YAML document: a value has seven of them at most, and a line can be a directive. */
export const yamlTokensMax = 1_000_000;

/** Tokens, and values, of a YAML text that are read without a pause. */
export const yamlTokensPerStep = 4_096;
export const yamlValuesPerStep = 2_048;

/** The most lines that one YAML text may have. */
export const yamlLinesMax = 200_000;

/** How far the colon may be from the start of a key (YAML 1.1, 9.1.2). */
export const yamlKeyLengthMax = 1024;

/** Media ranges read of one Accept header. */
export const acceptClausesMax = 64;
