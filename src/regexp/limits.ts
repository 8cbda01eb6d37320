// Bounds on patterns and on the work they may cause. Upstream bounds only the size of a pattern, at three million instructions: there a
// slow match holds one request, here it would hold all of them.

/** The most characters that a pattern may have. */
export const patternCharsMax = 10_000;
/** Instructions of a pattern's program, as estimated before it is compiled. */
export const programInstructionsMax = 10_000;
/** What one run may spend when its caller sets no bound: a unit takes 10 to 20 ns. */
export const workUnitsMax = 5_000_000;
/** What it costs to compile one instruction. */
export const instructionWorkUnits = 500;
/** What it costs to compile any pattern, however short. */
export const compileWorkUnits = 5_000;
/** Entries of the transition table of one pattern; when they are used up, the table starts again. */
export const tableCellsMax = 1 << 16;
/** Table entries and instructions of all patterns that are kept. */
export const cacheCellsMax = 8_000_000;
