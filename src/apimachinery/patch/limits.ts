// Limits of patches (k8s.io/apiserver, endpoints/handlers).

/** Operations in one JSON patch. */
export const jsonPatchOperationsMax = 10_000;

/** Growth of the document by all copy operations of one JSON patch, in bytes: copies of copies would double it each time. */
export const copiedBytesMax = 3 * 1024 * 1024;
