// A small fuzzer: it changes texts it knows, keeps what leads to an answer that it has not seen before, and goes on from there. What guides it
// is the answer, not the code that was run: the kind of error or the shape of the value. A finding is an error that no reader means to
// throw, a call that takes too long, or whatever a target itself finds wrong.
import { seededRng } from '#utils';

export interface FuzzTarget {
  name: string;
  /** Where it starts from. */
  seeds: readonly (string | Buffer)[];
  /** Reads the input. What it returns tells how far it came; a property that does not hold throws `Broken`. */
  read(input: Buffer): unknown;
}

/** A property that does not hold. */
export class Broken extends Error {}

export interface FuzzOptions {
  seed: number;
  /** Whether to go on, asked with the number of runs so far. */
  goesOn(runs: number): boolean;
  /** How long one call may take, in milliseconds of CPU. */
  callMsMax: number;
}

export interface Finding {
  input: Buffer;
  problem: string;
}

export interface FuzzResult {
  runs: number;
  /** Different answers. */
  answers: number;
  slowestMs: number;
  finding: Finding | undefined;
}

/** Errors that say that code was not prepared for its input. */
const unmeant = ['TypeError', 'ReferenceError', 'RangeError', 'EvalError', 'AssertionError'];
const inputBytesMax = 4096;
const longBytesMax = 65_536;
const corpusMax = 400;
const longEvery = 50;

const tokens = [
  ...[
    '{',
    '}',
    '[',
    ']',
    '(',
    ')',
    '"',
    "'",
    ',',
    ':',
    '/',
    '\\',
    '|',
    '&',
    '*',
    '-',
    '+',
    '.',
    '..',
    '!',
    '=',
    '==',
    '%',
    '#',
    '~',
    '@',
  ],
  ...[
    '0',
    '1',
    '-1',
    '9223372036854775807',
    '18446744073709551616',
    '1e308',
    '1e-400',
    '0x7f',
    '00',
    'null',
    'true',
    'NaN',
    'Infinity',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    '\u0000',
    '\u2028',
    '\ud800',
    '\u00e9',
    '\ufeff',
    '\n',
    '\r\n',
    '\t',
    ' ',
    'a',
    'é',
    '💥',
  ],
  ...[
    '::1',
    '255.255.255.255',
    '/32',
    '/129',
    '$ref',
    '<<',
    '&a',
    '*a',
    '---',
    '!!binary',
    '? ',
    '- ',
    'in',
    'notin',
    'all(x, x)',
    '(?i)',
    '{1000}',
  ],
];

const signature = (outcome: unknown, error: Error | undefined): string => {
  if (error) return `${error.constructor.name} ${error.message.replace(/"[^"]*"|'[^']*'|\d+/g, '_').slice(0, 80)}`;
  if (typeof outcome !== 'object' || outcome === null) return typeof outcome;
  const keys = Object.keys(outcome);
  return `${outcome.constructor?.name} ${keys.length > 8 ? 8 + Math.floor(Math.log2(keys.length)) : keys.slice(0, 8).sort().join(',')}`;
};

/** Runs one target until it is told to stop, or has found something. */
export function fuzz({ name, seeds, read }: FuzzTarget, { seed, goesOn, callMsMax }: FuzzOptions): FuzzResult {
  const rng = seededRng(seed);
  const int = (bound: number): number => Math.floor(rng.next() * bound);
  const pick = <T>(items: readonly T[]): T => items[int(items.length)] as T;
  const corpus: Buffer[] = seeds.map((one) => Buffer.from(one));
  const seen = new Set<string>();
  const splice = (from: Buffer, at: number, until: number, piece: Buffer): Buffer =>
    Buffer.concat([from.subarray(0, at), piece, from.subarray(until)]);
  const span = (of: Buffer): [number, number] => {
    const at = int(of.length + 1);
    return [at, Math.min(of.length, at + 1 + int(16))];
  };
  const changes: ((input: Buffer) => Buffer)[] = [
    (input) => {
      if (input.length === 0) return input;
      const out = Buffer.from(input);
      out[int(out.length)] = int(256);
      return out;
    },
    (input) => splice(input, ...span(input), Buffer.alloc(0)),
    (input) => {
      const at = int(input.length + 1);
      return splice(input, at, at, Buffer.from(pick(tokens)));
    },
    (input) => splice(input, ...span(input), Buffer.from(pick(tokens))),
    (input) => {
      const [at, until] = span(input);
      return splice(input, at, at, Buffer.concat(Array.from({ length: 1 + int(32) }, () => input.subarray(at, until))));
    },
    (input) => {
      const other = pick(corpus);
      const [from, until] = [int(other.length + 1), int(other.length + 1)];
      return splice(input, ...span(input), other.subarray(Math.min(from, until), Math.max(from, until)));
    },
  ];
  /** One span as often as it fits: what costs more than its length shows there. */
  const long = (input: Buffer): Buffer => {
    const [at, until] = span(input);
    const piece = until > at ? input.subarray(at, until) : Buffer.from('a');
    const times = Math.floor((longBytesMax - input.length) / piece.length);
    return splice(input, at, until, Buffer.concat(Array.from({ length: Math.max(1, times) }, () => piece)));
  };
  const cpuMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const call = (input: Buffer): { ms: number; outcome: unknown; error: Error | undefined } => {
    const started = cpuMs();
    try {
      const outcome = read(input);
      return { ms: cpuMs() - started, outcome, error: undefined };
    } catch (error) {
      return {
        ms: cpuMs() - started,
        outcome: undefined,
        error: error instanceof Error ? error : new Broken(`threw ${String(error)}`),
      };
    }
  };
  let runs = 0;
  let slowestMs = 0;
  const done = (finding?: Finding): FuzzResult => ({ runs, answers: seen.size, slowestMs, finding });
  for (const one of corpus) {
    const { error } = call(one);
    if (error instanceof Broken) return done({ input: one, problem: `${name}: ${error.message}` });
  }
  for (; goesOn(runs); runs++) {
    let input: Buffer = pick(corpus);
    for (let round = 1 + int(4); round > 0; round--) input = pick(changes)(input).subarray(0, inputBytesMax);
    if (runs % longEvery === 0) input = long(input);
    let { ms, outcome, error } = call(input);
    // A busy machine and a first compilation cost time as well: what is slow is slow again.
    for (let again = 0; again < 3 && ms > callMsMax; again++) ms = Math.min(ms, call(input).ms);
    slowestMs = Math.max(slowestMs, ms);
    if (error && (error instanceof Broken || unmeant.includes(error.constructor.name)))
      return done({ input, problem: `${name}: ${error.stack}` });
    if (ms > callMsMax) return done({ input, problem: `${name}: ${Math.round(ms)} ms of CPU for ${input.length} bytes` });
    const told = signature(outcome, error);
    if (seen.has(told)) continue;
    seen.add(told);
    if (corpus.length < corpusMax && input.length <= inputBytesMax) corpus.push(input);
  }
  return done();
}
