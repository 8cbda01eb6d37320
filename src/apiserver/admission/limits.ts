// Limits of admission.
export const limits = {
  /** How long a pod waits for its namespace's default service account. */
  defaultAccountWaitMs: 1_500,
  /** Attempts to write a quota's usage against other writers. */
  quotaAttemptsMax: 3,
  /** The body of a webhook's answer. */
  webhookResponseBytesMax: 10 * 1024 * 1024,
  /** What all match conditions of one policy may cost. */
  matchConditionsCostMax: 2_500_000,
  /** The message that an expression of a policy gives; a longer one is not used. */
  messageExpressionBytesMax: 5 * 1024,
  /** A value that a policy adds to the audit log is cut here. */
  auditAnnotationLengthMax: 10 * 1024,
  /** Answers about images that are remembered. */
  rememberedImageReviewsMax: 1024,
  /** A longer question about images is asked each time. */
  rememberedImageReviewCharsMax: 10_000,
};
