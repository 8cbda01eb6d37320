// Bounds of the emulated API.

/** How long clients stay with a node: NodeBalancers say half an hour of their session tables. */
export const affinitySeconds = 1_800;
/** How many random bytes a token has. */
export const tokenBytes = 32;
