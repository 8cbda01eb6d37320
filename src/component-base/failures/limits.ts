/** Before a component that failed is started again: twice as long each time, up to `max`; from the first again after it has run for `forgivenAfter`. */
export const restartMs = { first: 250, max: 30_000, forgivenAfter: 60_000 };
/** What a failed component is given to stop. */
export const stopPatienceMs = 10_000;
/** How many failures are kept to be shown. */
export const failuresKept = 100;
/** Longest text kept of one failure. */
export const failureCharsMax = 4_000;
