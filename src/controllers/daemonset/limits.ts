// Bounds of the DaemonSet loop.

/** A failed daemon pod is replaced when it is at least this old, so that one that fails at once is not remade without pause. */
export const failedPodRetryMs = 10_000;
