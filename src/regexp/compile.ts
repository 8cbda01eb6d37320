// From a text to a pattern, as `regexp.Compile` of Go reads it, with the texts of its errors. Patterns are kept: the same few are asked for
// with every object of a kind.
import { cacheCellsMax, compileWorkUnits, instructionWorkUnits, patternCharsMax, programInstructionsMax } from './limits.ts';
import { withCanonicalNames } from './names.ts';
import { compileProgram, type Program } from './program.ts';
import { Regexp } from './regexp.ts';
import { programSize } from './size.ts';
import { Work } from './work.ts';

/** The text is no pattern; the message is Go's. */
export class RegexpError extends Error {}

/** Patterns asked for lately, and those of the time before: what nobody asked for in either is forgotten. */
let recent = new Map<string, Regexp>();
let older = new Map<string, Regexp>();
let recentCells = 0;

function count(cells: number): void {
  recentCells += cells;
  if (recentCells <= cacheCellsMax / 2) return;
  older = recent;
  recent = new Map();
  recentCells = 0;
}

function keep(regexp: Regexp): Regexp {
  recent.set(regexp.source, regexp);
  count(regexp.cells);
  return regexp;
}

const problem = (what: string): RegexpError => new RegexpError(`error parsing regexp: ${what}`);

/** The compiler's own error; its text lacks the empty quotation of a lone backslash. */
function asGo(error: unknown): RegexpError {
  const message = error instanceof Error ? error.message : String(error);
  return new RegexpError(message.endsWith('trailing backslash at end of expression') ? `${message}: \`\`` : message);
}

const nameProblem = /invalid character class range: `\\[pP]|duplicate capture group name/;

function programOf(source: string): Program {
  try {
    return compileProgram(source);
  } catch (error) {
    const first = asGo(error);
    const canonical = withCanonicalNames(source);
    if (!nameProblem.test(first.message) || canonical === source) throw first;
    try {
      return compileProgram(canonical);
    } catch (again) {
      const second = asGo(again);
      // An error quotes the part that it is about.
      const quoted = /`([^]*)`$/.exec(second.message)?.[1] ?? '';
      if (quoted === canonical) throw new RegexpError(second.message.replace(canonical, () => source));
      throw source.includes(quoted) ? second : first;
    }
  }
}

/** Throws `RegexpError`, and `WorkError` where `work` does not suffice to compile it. */
export function compileRegexp(source: string, work = new Work()): Regexp {
  const known = recent.get(source);
  if (known) return known;
  const forgotten = older.get(source);
  if (forgotten) return keep(forgotten);
  const size = source.length > patternCharsMax ? Infinity : programSize(source);
  if (size > programInstructionsMax) throw problem(`expression too large: \`${source}\``);
  work.spend(compileWorkUnits + instructionWorkUnits * size);
  return keep(new Regexp(source, programOf(source), count));
}

/** Go's text of what is wrong with a pattern; undefined: nothing. Throws `WorkError`. */
export function regexpProblem(source: string, work?: Work): string | undefined {
  try {
    compileRegexp(source, work);
    return undefined;
  } catch (error) {
    if (error instanceof RegexpError) return error.message;
    throw error;
  }
}
