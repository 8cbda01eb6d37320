// Bounds of the cloud's server.
export const limits = {
  /** One request's body. */
  bodyBytesMax: 1024 * 1024,
  /** The journal is folded into a snapshot when it has grown by this. */
  journalBytesMax: 16 * 1024 * 1024,
  /** Before a journal whose disk was full is tried again. */
  mendMs: 1_000,
  /** From a write to the journal to the note of how far it reaches: what is missing up to there is damage. */
  noteDelayMs: 200,
  /** Calls in the audit log. */
  auditEventsMax: 1_000,
  /** Create requests remembered by their token, and for how long. */
  clientTokensMax: 10_000,
  clientTokenKeepMs: 86_400_000,
  /** Pause of a driver after a failure: the first, and the longest. */
  driverRetryMinMs: 250,
  driverRetryMaxMs: 30_000,
  /** How many times in a row a driver may fail for want of what another one makes, before that is reported as an error. */
  driverNotYetMax: 4,
  /** From a new VPC to the first try to start its name service. */
  nameServiceDelayMs: 100,
  /** How often terminated instances are looked through. */
  forgetPeriodMs: 10_000,
  /** Longest latency that failures on request may add. */
  latencyMsMax: 300_000,
  /** Running requests at the end of the server. */
  closeGraceMs: 2_000,
};
