// Limits of reading and writing bodies.

/** Nesting of messages in one protobuf body. */
export const messageDepthMax = 1000;

/** One watch frame a client accepts; upstream's frame reader has the same limit. */
export const frameBytesMax = 16 * 1024 * 1024;

/** Nodes that the aliases of one YAML document may be expanded to, against "billion laughs". */
export const yamlExpandedNodesMax = 100_000;

/** Media ranges read of one Accept header. */
export const acceptClausesMax = 64;
