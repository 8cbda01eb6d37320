// Bounds of the shell around the operating system.
export const limits = {
  /** The longest delay setTimeout takes; longer timers are chained. */
  timerStepMsMax: 2 ** 31 - 1,
  /**
   * How long work in bulk of one kind goes on in one turn of the event loop. Several kinds (what comes in, requests from outside and inside,
   * commits) each have it. Whoever asks for little waits for some turns, one until he is heard, one until his write is on the disk, and one
   * until he is answered: shorter turns are shorter waits, and a turn costs some 20 microseconds by itself.
   */
  turnShareMs: 2,
  /** After how long the time that somebody has used counts half. */
  usageHalfLifeMs: 1_000,
  /** Half-lives after which such times are counted anew, long before their numbers lose precision. */
  usageHalvesMax: 60,
  /** Usage below this is not worth remembering. */
  usageForgottenMs: 0.01,
  /** A client that has used so many times less than the heaviest one counts as light, and may pass others. */
  lightUsageRatio: 4,
  /** Output kept of one program (each of stdout and stderr); more makes the call fail. */
  execOutputBytesMax: 256 * 1024 * 1024,
  /** Between SIGTERM and SIGKILL when a program has run into its time limit. */
  execKillGraceMs: 2_000,
  /** Text of a log that waits for its disk; what comes beyond is dropped. */
  logBufferBytesMax: 4 * 1024 * 1024,
  /** Quiet time after a change before a watched file counts as settled. */
  fileSettleMs: 50,
  /** How often a watched file is looked at when the kernel tells nothing (network mounts, exhausted inotify). */
  filePollMs: 10_000,
  /** One connection made for this process inside a network namespace. */
  netnsConnectTimeoutMs: 10_000,
  /** What is kept of a complaint of the helper there. */
  netnsComplaintChars: 2_000,
  /** Directories inside of each other that are gone into; paths (PATH_MAX) can name twice as many at most. Each costs two descriptors. */
  treeDepthMax: 1_000,
  /** Links followed in one path (Go's filepath.EvalSymlinks). */
  linksMax: 255,
  /** Trees to be removed are gone into so deep, what lies deeper is moved up first. */
  removalDepthMax: 64,
  /** How often a directory is emptied that others go on filling. */
  removalRoundsMax: 10,
};
