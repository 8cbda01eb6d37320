// Tells whether a text holds a match: states are made when a text first leads to them, and then cost one look into a table for each
// character (https://swtch.com/~rsc/regexp/regexp1.html; https://swtch.com/~rsc/regexp/regexp3.html).
import { tableCellsMax } from './limits.ts';
import { op } from './instructions.ts';
import type { Program } from './program.ts';
import { placesBetween, runeAt, side, takesClass } from './rune-classes.ts';
import type { Work } from './work.ts';

const dead = 0;
const accepts = 1;
const unknown = -1;
const firstSurrogate = 0xd800;

export class Dfa {
  readonly #program: Program;
  readonly #width: number;
  #table: Int32Array;
  /** Of each state the instructions that are next, before places are looked at. */
  #kernels: Uint16Array[] = [];
  /** What stood before each state. */
  #befores: number[] = [];
  readonly #ids = new Map<string, number>();
  readonly #seen: Uint32Array;
  #round = 0;
  readonly #stack: Uint16Array;
  /** The state at the start of a text. */
  #first = unknown;
  /** Entries of the table and of the states. */
  cells = 0;
  /** Entries that were added since they were last counted. */
  grown = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#width = program.classes.end + 1;
    this.#table = new Int32Array(16 * this.#width);
    this.#seen = new Uint32Array(program.size);
    this.#stack = new Uint16Array(2 * program.size + 2);
    this.#clear();
  }

  /** Throws `WorkError`. */
  test(text: string, work: Work): boolean {
    const { classes } = this.#program;
    const width = this.#width;
    const { latin } = classes;
    let state = this.#first === unknown ? this.#firstState() : this.#first;
    let table = this.#table;
    let at = 0;
    for (; at < text.length; at++) {
      let rune = text.charCodeAt(at);
      if (rune >= firstSurrogate) rune = runeAt(text, at);
      if (rune > 0xffff) at++;
      const one = rune < 256 ? (latin[rune] as number) : classes.of(rune);
      let next = table[state * width + one] as number;
      if (next === unknown) {
        work.spend(at);
        next = this.#step(state, one, work);
        table = this.#table;
      }
      if (next <= accepts) {
        work.spend(1);
        return next === accepts;
      }
      state = next;
    }
    work.spend(at + 1);
    const last = table[state * width + classes.end] as number;
    return (last === unknown ? this.#step(state, classes.end, work) : last) === accepts;
  }

  takeGrowth(): number {
    const { grown } = this;
    this.grown = 0;
    return grown;
  }

  #firstState(): number {
    this.#first = this.#stateOf(side.edge, Uint16Array.of(this.#program.start));
    return this.#first;
  }

  #clear(): void {
    this.#first = unknown;
    this.#kernels = [Uint16Array.of(), Uint16Array.of()];
    this.#befores = [side.other, side.other];
    this.#ids.clear();
    this.cells = 0;
  }

  #stateOf(before: number, kernel: Uint16Array): number {
    const key = String.fromCharCode(before, ...kernel);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    if (this.cells > tableCellsMax) this.#clear();
    const id = this.#kernels.length;
    this.cells += this.#width + kernel.length;
    this.grown += this.#width + kernel.length;
    if ((id + 1) * this.#width > this.#table.length) {
      const larger = new Int32Array(2 * this.#table.length);
      larger.set(this.#table);
      this.#table = larger;
    }
    this.#table.fill(unknown, id * this.#width, (id + 1) * this.#width);
    this.#kernels.push(kernel);
    this.#befores.push(before);
    this.#ids.set(key, id);
    return id;
  }

  /** Where a state goes at a class of characters. */
  #step(state: number, one: number, work: Work): number {
    const program = this.#program;
    const after = program.classes.sides[one] as number;
    const next = this.#kernelAfter(state, one, placesBetween(this.#befores[state] as number, after), work);
    if (typeof next === 'number') return this.#remember(state, one, next);
    if (one === program.classes.end) return this.#remember(state, one, dead);
    const from = this.#kernels[state];
    const id = this.#stateOf(after, next);
    // The table may have started again: then the state it came from is gone.
    return this.#kernels[state] === from ? this.#remember(state, one, id) : id;
  }

  #remember(state: number, one: number, next: number): number {
    this.#table[state * this.#width + one] = next;
    return next;
  }

  /** The instructions after a character of the class, in order of their numbers; or what is known already. */
  #kernelAfter(state: number, one: number, places: number, work: Work): Uint16Array | number {
    const { ops, out, arg, takes, start, isAnchored } = this.#program;
    const seen = this.#seen;
    const stack = this.#stack;
    const round = ++this.#round;
    const kernel = this.#kernels[state] as Uint16Array;
    stack.set(kernel);
    let depth = kernel.length;
    let visited = 0;
    const found = new Set<number>();
    while (depth > 0) {
      const pc = stack[--depth] as number;
      if (seen[pc] === round) continue;
      seen[pc] = round;
      visited++;
      const kind = ops[pc] as number;
      if (kind === op.match) return accepts;
      if (kind === op.alt || kind === op.altMatch) {
        stack[depth++] = arg[pc] as number;
        stack[depth++] = out[pc] as number;
      } else if (kind === op.empty) {
        if (((arg[pc] as number) & ~places) === 0) stack[depth++] = out[pc] as number;
      } else {
        const spans = takes[pc];
        if (spans && takesClass(spans, one)) found.add(out[pc] as number);
      }
    }
    work.spend(40 + 5 * visited + 15 * found.size);
    if (!isAnchored) found.add(start);
    return found.size === 0 ? dead : Uint16Array.from(found).sort();
  }
}
