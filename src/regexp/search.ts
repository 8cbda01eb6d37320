// Finds where the first match begins and ends: all threads of the program walk the text at once, in the order in which a backtracking
// search would try them, so the match is the one that Go's regexp finds (https://swtch.com/~rsc/regexp/regexp2.html).
import { op } from './instructions.ts';
import type { Program } from './program.ts';
import { placesBetween, runeAt, side, takesClass } from './rune-classes.ts';
import type { Work } from './work.ts';

/** Threads in their order: where each is in the program, and where its match begins. */
class Threads {
  readonly at: Uint16Array;
  readonly from: Int32Array;
  size = 0;
  constructor(size: number) {
    this.at = new Uint16Array(size);
    this.from = new Int32Array(size);
  }
  push(at: number, from: number): void {
    this.at[this.size] = at;
    this.from[this.size++] = from;
  }
}

export class Search {
  readonly #program: Program;
  readonly #text: string;
  readonly #work: Work;
  readonly #seen: Uint32Array;
  #round = 0;
  readonly #stack: Uint16Array;
  /** Threads before places are looked at, and those of them that wait for a character. */
  readonly #kernel: Threads;
  readonly #ready: Threads;

  constructor(program: Program, text: string, work: Work) {
    this.#program = program;
    this.#text = text;
    this.#work = work;
    this.#seen = new Uint32Array(program.size);
    this.#stack = new Uint16Array(2 * program.size + 2);
    this.#kernel = new Threads(program.size + 1);
    this.#ready = new Threads(program.size + 1);
  }

  /** Start and end of the first match from a place on. Throws `WorkError`. */
  next(from: number): [start: number, end: number] | undefined {
    const program = this.#program;
    const text = this.#text;
    const kernel = this.#kernel;
    const ready = this.#ready;
    const work = this.#work;
    const { classes, isAnchored, start } = program;
    let match: [number, number] | undefined;
    let before = this.#sideBefore(from);
    kernel.size = 0;
    for (let at = from; ; ) {
      const rune = at < text.length ? runeAt(text, at) : -1;
      const one = rune < 0 ? classes.end : classes.of(rune);
      const after = classes.sides[one] as number;
      this.#expand(match === undefined && (!isAnchored || at === 0) ? start : undefined, at, placesBetween(before, after));
      work.spend(3 + 3 * ready.size);
      match = this.#advance(one, at) ?? match;
      if (rune < 0 || (kernel.size === 0 && (match !== undefined || isAnchored))) return match;
      before = after;
      at += rune > 0xffff ? 2 : 1;
    }
  }

  #sideBefore(at: number): number {
    if (at === 0) return side.edge;
    const isPair = at > 1 && runeAt(this.#text, at - 2) > 0xffff;
    const { classes } = this.#program;
    return classes.sides[classes.of(runeAt(this.#text, isPair ? at - 2 : at - 1))] as number;
  }

  /** Makes `ready` of `kernel`, and of a new thread at `start` that comes after all others. */
  #expand(start: number | undefined, at: number, places: number): void {
    this.#round++;
    this.#ready.size = 0;
    const kernel = this.#kernel;
    for (let index = 0; index < kernel.size; index++) this.#add(kernel.at[index] as number, kernel.from[index] as number, places);
    if (start !== undefined) this.#add(start, at, places);
  }

  #add(first: number, from: number, places: number): void {
    const { ops, out, arg } = this.#program;
    const seen = this.#seen;
    const stack = this.#stack;
    const round = this.#round;
    const ready = this.#ready;
    stack[0] = first;
    for (let depth = 1; depth > 0; ) {
      const pc = stack[--depth] as number;
      if (seen[pc] === round) continue;
      seen[pc] = round;
      const kind = ops[pc] as number;
      if (kind === op.alt || kind === op.altMatch) {
        stack[depth++] = arg[pc] as number;
        stack[depth++] = out[pc] as number;
      } else if (kind !== op.empty) ready.push(pc, from);
      else if (((arg[pc] as number) & ~places) === 0) stack[depth++] = out[pc] as number;
    }
  }

  /** Makes `kernel` of `ready` at a class of characters; a match ends the threads after it. */
  #advance(one: number, at: number): [number, number] | undefined {
    const { ops, out, takes } = this.#program;
    const kernel = this.#kernel;
    const ready = this.#ready;
    kernel.size = 0;
    for (let index = 0; index < ready.size; index++) {
      const pc = ready.at[index] as number;
      if (ops[pc] === op.match) return [ready.from[index] as number, at];
      const spans = takes[pc];
      if (spans && takesClass(spans, one)) kernel.push(out[pc] as number, ready.from[index] as number);
    }
    return undefined;
  }
}
