// Bounds of the cloud in memory.

/** How often terminated instances are looked through. */
export const forgetPeriodMs = 10_000;
/** How many calls the audit log lists at once. */
export const auditEventsListed = 1_000;
