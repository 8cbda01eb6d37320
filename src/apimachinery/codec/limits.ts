// Limits of reading and writing bodies.

/** Nesting of messages in one protobuf body. */
export const messageDepthMax = 1000;

/** One watch frame a client accepts; upstream's frame reader has the same limit. */
export const frameBytesMax = 16 * 1024 * 1024;

/** Scalars and collections of one YAML document, with those that its aliases stand for; each costs several times what one of JSON does. */
export const yamlValuesMax = 100_000;

/** Lines of one YAML text. */
export const yamlLinesMax = 200_000;

/** How far the colon may be from the start of a key (YAML 1.1, 9.1.2). */
export const yamlKeyLengthMax = 1024;

/** Media ranges read of one Accept header. */
export const acceptClausesMax = 64;
