// Limits of admission.
export const limits = {
  /** How long a pod waits for its namespace's default service account. */
  defaultAccountWaitMs: 1_500,
  /** Attempts to write a quota's usage against other writers. */
  quotaAttemptsMax: 3,
  /** The body of a webhook's answer. */
  webhookResponseBytesMax: 10 * 1024 * 1024,
};
