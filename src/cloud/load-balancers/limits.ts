// Bounds of the load balancers.
export const limits = {
  /** One call of ip, iptables, conntrack or haproxy. */
  commandTimeoutMs: 30_000,
  /** Probes under way at a time in one VPC; others wait their turn. */
  probesMax: 32,
  /** How much is read of an HTTP answer to a probe: the status line is in its beginning. */
  probeAnswerBytesMax: 4_096,
  /** A timer that fires so much later than it should tells of this process, not of the target. */
  probeLateMs: 50,
  /** Probes in a row without an answer that are forgiven a target from which connections hear something. */
  probesForgivenMax: 6,
  /** Answer of HAProxy on one of its sockets. */
  answerBytesMax: 64 * 1024 * 1024,
  socketTimeoutMs: 10_000,
  /** From the request for a reload to the new worker. */
  reloadTimeoutMs: 20_000,
  reloadPollMs: 15,
  /** Between the polite and the hard end of HAProxy. */
  stopGraceMs: 3_000,
  stopPollMs: 10,
  /** How often an HAProxy that an earlier process started is checked, because nothing reports its end. */
  watchPollMs: 500,
  /** Before work that failed of its own account (a probe's finding, an ended HAProxy) is tried again. */
  retryMs: 1_000,
  /** Before listeners that HAProxy could not open are tried again. */
  refusedRetryMs: 10_000,
  /** An HAProxy that ended sooner is not started again at once. */
  earlyEndMs: 5_000,
  /** Reloads that a worker with open connections lives through. */
  workerReloadsMax: 1_000,
  /** Open files of HAProxy: connections are bounded by half of it. */
  haproxyFilesMax: 20_000,
  /** Clients remembered by a listener with affinity. */
  affinityClientsMax: 100_000,
  /** Targets of one VPC that can be told apart by marks. */
  indexMax: 0x7fff,
  /** How many connections one load balancer of the twin without real networks carries at a time. */
  loopbackConnectionsMax: 1_000,
  loopbackDialTimeoutMs: 5_000,
  /** How long half of a connection stays open after the other half ended, without traffic. */
  loopbackHalfOpenMs: 60_000,
};
