// Limits of the ownership bookkeeping (k8s.io/apimachinery/pkg/util/managedfields).

/** Entries of operation Update an object keeps; older ones are merged into one. */
export const updateManagersMax = 10;
