// Bounds on patterns and on the work they may cause. Upstream bounds only the size of a pattern, at three million instructions: there a
// slow match holds one request, here it would hold all of them.

/** Characters of a pattern. */
export const patternCharsMax = 10_000;
/** Instructions of a pattern's program, as estimated before it is compiled. */
export const programInstructionsMax = 10_000;
/** What one run may spend when its caller sets no bound: a unit takes 10 to 20 ns. */
export const workUnitsMax = 5_000_000;
/** Compiling one instruction. */
export const instructionWorkUnits = 500;
/** Compiling any pattern. */
export const compileWorkUnits = 5_000;
/** Entries of the transition table of one pattern; when they are used up, the table starts again. */
export const tableCellsMax = 1 << 16;
/** Table entries and instructions of all patterns that are kept. */
export const cacheCellsMax = 8_000_000;
