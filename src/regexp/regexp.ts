// A compiled pattern with the searches of Go's regexp package (https://pkg.go.dev/regexp).
import { Dfa } from './dfa.ts';
import type { Program } from './program.ts';
import { runeAt } from './rune-classes.ts';
import { Search } from './search.ts';
import { Work } from './work.ts';

export class Regexp {
  readonly source: string;
  readonly #program: Program;
  readonly #dfa: Dfa;
  /** Called with the number of cells by which the tables grew. */
  readonly #onGrowth: (cells: number) => void;

  constructor(source: string, program: Program, onGrowth: (cells: number) => void) {
    this.source = source;
    this.#program = program;
    this.#dfa = new Dfa(program);
    this.#onGrowth = onGrowth;
  }

  get instructions(): number {
    return this.#program.size;
  }

  /** Memory that the pattern holds, in table entries and instructions. */
  get cells(): number {
    return this.#program.size + this.#dfa.cells;
  }

  /** Whether the text holds a match. Throws `WorkError`. */
  test(text: string, work = new Work()): boolean {
    const holds = this.#dfa.test(text, work);
    if (this.#dfa.grown > 0) this.#onGrowth(this.#dfa.takeGrowth());
    return holds;
  }

  /** The first match. Throws `WorkError`. */
  find(text: string, work = new Work()): string | undefined {
    const [first] = this.ranges(text, 1, work);
    return first && text.slice(...first);
  }

  /** All matches that do not overlap, at most `most`. Throws `WorkError`. */
  findAll(text: string, most = Infinity, work = new Work()): string[] {
    return this.ranges(text, most, work).map((range) => text.slice(...range));
  }

  /** Where the matches are, as Go finds them: an empty match does not follow a match at once. */
  ranges(text: string, most: number, work: Work): [start: number, end: number][] {
    const found: [number, number][] = [];
    if (most <= 0 || !this.test(text, work)) return found;
    const search = new Search(this.#program, text, work);
    let lastEnd = -1;
    for (let at = 0; at <= text.length && found.length < most; ) {
      const match = search.next(at);
      if (!match) break;
      const [start, end] = match;
      if (start < end || start !== lastEnd) found.push(match);
      lastEnd = end;
      at = end > at ? end : at + (at < text.length && runeAt(text, at) > 0xffff ? 2 : 1);
    }
    return found;
  }
}
