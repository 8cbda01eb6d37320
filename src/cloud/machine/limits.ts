// Bounds of the machine driver.

/** One run of ip, iptables and the like. */
export const commandTimeoutMs = 20_000;
/** The longest time that one pass over all networks may take. */
export const networkTimeoutMs = 120_000;
/** Instances that boot at the same time. */
export const bootsMax = 4;
/** The longest wait from the start of an instance to its first process. */
export const bootTimeoutMs = 20_000;
/** The time between SIGTERM to an instance's program and the end of its power. */
export const programStopTimeoutMs = 5_000;
/** The longest wait until every process of an instance without power is gone. */
export const powerOffTimeoutMs = 10_000;
export const processPollMs = 20;
/** How often processes that an earlier process of the cloud started are looked at. */
export const adoptedPollMs = 200;
/** Pauses before a pass that nobody asked for from outside is tried again: doubled each time. */
export const retryMs = { first: 1_000, max: 30_000 };
/** Pauses before an instance's program that has ended is started again: doubled each time, the first again after a long enough life. */
export const restartMs = { first: 1_000, max: 30_000, forgivenAfter: 60_000 };
/** Kept of what a program wrote, to say why it did not start. */
export const lastWordsBytesMax = 4_096;
/** Tries to open a log in whose place an instance puts other things. */
export const openRoundsMax = 10;
