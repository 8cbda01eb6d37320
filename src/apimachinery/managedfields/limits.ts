// Limits of the ownership bookkeeping (k8s.io/apimachinery/pkg/util/managedfields).

/** Entries of operation Update an object keeps; older ones are merged into one. */
export const updateManagersMax = 10;
/** Steps remembered on the way to nodes of field sets, some 150 bytes each, before all are forgotten. */
export const nodeStepsMax = 50_000;
/** Children up to which a node is kept once. */
export const sharedChildrenMax = 100;
