// What a pattern compiles to. The package re2js, a port of Go's regexp, reads the pattern and makes the program; this is its program in
// flat arrays for the machines of this room, which count their work.
import { RE2JS } from 're2js';
import { orbitOf } from './fold.ts';
import { op, place } from './instructions.ts';
import { RuneClasses } from './rune-classes.ts';

interface RawInstruction {
  op: number;
  out: number;
  arg: number;
  runes: Int32Array;
  matchRune(rune: number): boolean;
}

export interface Program {
  size: number;
  ops: Uint8Array;
  /** The next instruction. */
  out: Uint16Array;
  /** The less preferred next one of `alt`; the places that `empty` asks for. */
  arg: Uint16Array;
  /** Classes of characters that an instruction of runes takes, as pairs of first and last. */
  takes: readonly (Int32Array | undefined)[];
  start: number;
  /** No match begins but at the start of the text. */
  isAnchored: boolean;
  /** All places that instructions ask for. */
  places: number;
  classes: RuneClasses;
}

const lastRune = 0x10ffff;
const newline = 10;

/** Ranges of the characters that an instruction takes. */
function rangesOf(raw: RawInstruction): ArrayLike<number> | undefined {
  if (raw.op === op.any) return [0, lastRune];
  if (raw.op === op.anyNotNewline) return [0, newline - 1, newline + 1, lastRune];
  if (raw.op !== op.rune && raw.op !== op.rune1) return undefined;
  if (raw.runes.length !== 1) return raw.runes;
  const [rune = 0] = raw.runes;
  const isFolded = (raw.arg & 1) !== 0;
  return (isFolded ? orbitOf(rune, (other) => raw.matchRune(other)) : [rune]).flatMap((one) => [one, one]);
}

/** Where a match must begin: places asked for before anything else. */
function placesAtStart(instructions: readonly RawInstruction[], start: number): number {
  let places = 0;
  for (let pc = start; ; ) {
    const raw = instructions[pc];
    if (raw?.op === op.empty) places |= raw.arg;
    else if (raw?.op !== op.capture && raw?.op !== op.nop) return places;
    pc = raw.out;
  }
}

function flatten({ inst, start }: { inst: readonly RawInstruction[]; start: number }): Program {
  const ranges = new Map<Int32Array | number, ArrayLike<number>>();
  const rangesIn = inst.map((raw) => {
    // Repetitions share the runes of what they repeat.
    const key =
      raw.runes.length > 1
        ? raw.runes
        : raw.op === op.any || raw.op === op.anyNotNewline
          ? -raw.op
          : 2 * (raw.runes[0] ?? 0) + (raw.arg & 1);
    const own = ranges.get(key) ?? rangesOf(raw);
    if (own) ranges.set(key, own);
    return own;
  });
  const places = inst.reduce((all, raw) => (raw.op === op.empty ? all | raw.arg : all), 0);
  const classes = new RuneClasses(new Set(ranges.values()), places);
  const takes = new Map([...ranges.values()].map((own) => [own, classes.spansOf(own)]));
  const skip = (pc: number): number => {
    let at = pc;
    for (let raw = inst[at]; raw && (raw.op === op.nop || raw.op === op.capture); raw = inst[at]) at = raw.out;
    return at;
  };
  return {
    size: inst.length,
    ops: Uint8Array.from(inst, (raw) => raw.op),
    out: Uint16Array.from(inst, (raw) => skip(raw.out)),
    arg: Uint16Array.from(inst, (raw) => (raw.op === op.alt || raw.op === op.altMatch ? skip(raw.arg) : raw.arg)),
    takes: rangesIn.map((own) => own && takes.get(own)),
    start: skip(start),
    isAnchored: (placesAtStart(inst, start) & place.beginText) !== 0,
    places,
    classes,
  };
}

/** Throws an Error with Go's text for what is no pattern. */
export function compileProgram(pattern: string): Program {
  const { prog } = RE2JS.compile(pattern).re2Input as { prog: { inst: readonly RawInstruction[]; start: number } };
  return flatten(prog);
}
