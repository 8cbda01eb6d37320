// Limits of patches (k8s.io/apiserver, endpoints/handlers).

/** The most operations that one JSON patch may have. */
export const jsonPatchOperationsMax = 10_000;

/** Growth of the document by all copy operations of one JSON patch, in bytes: copies of copies would double it each time. */
export const copiedBytesMax = 3 * 1024 * 1024;

/** Items of lists that one JSON patch may push along: 10,000 moves at the head of a long list would take seconds. */
export const shiftedItemsMax = 50_000_000;
