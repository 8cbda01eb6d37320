// How large a pattern's program will be, read off its text before anything is compiled: `x{1000}` is seven characters and a thousand
// instructions. The answer is a rough one, but never far below the truth; for what is no pattern it means nothing.

/** A Unicode class holds hundreds of ranges. Copies of it share them. */
const unicodeClassWeight = 100;

/** Where the class that opens at `start` ends, and what its ranges weigh. */
function readClass(pattern: string, start: number): [end: number, weight: number] {
  let at = start + 1;
  let weight = 0;
  if (pattern[at] === '^') at++;
  if (pattern[at] === ']') at++;
  while (at < pattern.length && pattern[at] !== ']') {
    if (pattern[at] === '\\') {
      const [end, escape] = readEscape(pattern, at);
      weight += escape;
      at = end;
    } else if (pattern.startsWith('[:', at)) {
      const end = pattern.indexOf(':]', at);
      at = end < 0 ? at + 2 : end + 2;
    } else {
      weight += 0.25;
      at++;
    }
  }
  return [at + 1, weight];
}

/** Where the escape at `start` ends, and what its ranges weigh. */
function readEscape(pattern: string, start: number): [end: number, weight: number] {
  const letter = pattern[start + 1];
  if (letter === 'p' || letter === 'P') {
    const end = pattern[start + 2] === '{' ? pattern.indexOf('}', start) : start + 2;
    return [end < 0 ? pattern.length : end + 1, unicodeClassWeight];
  }
  if (letter === 'x' && pattern[start + 2] === '{') {
    const end = pattern.indexOf('}', start);
    return [end < 0 ? pattern.length : end + 1, 0];
  }
  return [start + 2, 0];
}

const repeat = /\{(\d{1,9})(,(\d{0,9}))?\}/y;
/** Nested repetitions copy at most this often: the compiler refuses more. */
const copiesMax = 1000;

/** How often the repetition at `start` copies, and whether copies are optional, which take two instructions each. `end` is undefined where there is none. */
function readRepeat(pattern: string, start: number): { end?: number; copies: number; isOptional: boolean } {
  repeat.lastIndex = start;
  const found = repeat.exec(pattern);
  if (!found) return { copies: 1, isOptional: false };
  const [whole, least, rest, most] = found;
  const copies = rest === undefined ? Number(least) : most === '' ? Number(least) + 1 : Number(most);
  return { end: start + whole.length, copies: Math.max(copies, 1), isOptional: Boolean(most) };
}

const flags = /\(\?[imsU-]*\)/y;
const groupHead = /\?(?:P?<[^>]*>|[imsU-]*:)/y;

/** What a sequence, or the last thing in it, comes to, and how often its innermost part is copied. */
interface Weight {
  size: number;
  copies: number;
}
const nothing: Weight = { size: 0, copies: 1 };
const joined = (one: Weight, two: Weight): Weight => ({
  size: one.size + two.size,
  copies: Math.max(one.copies, two.copies),
});

class Scale {
  readonly #around: Weight[] = [];
  #total = nothing;
  #last = nothing;
  #ranges = 0;

  atom(ranges: number): void {
    this.#total = joined(this.#total, this.#last);
    this.#last = { size: 1, copies: 1 };
    this.#ranges += ranges;
  }

  literals(count: number): void {
    this.#total = joined(this.#total, { size: count, copies: 1 });
  }

  more(): void {
    this.#last = { ...this.#last, size: this.#last.size + 1 };
  }

  repeat(copies: number, isOptional: boolean): void {
    const { size, copies: inner } = this.#last;
    const times = Math.min(copies, Math.floor(copiesMax / inner) || 1);
    this.#last = { size: size * times * (isOptional ? 2 : 1), copies: inner * times };
  }

  open(): void {
    this.#around.push(joined(this.#total, this.#last));
    [this.#total, this.#last] = [nothing, nothing];
  }

  close(): void {
    const { size, copies } = joined(this.#total, this.#last);
    [this.#total, this.#last] = [this.#around.pop() ?? nothing, { size: size + 2, copies }];
  }

  sum(): number {
    return this.#around.reduce((sum, { size }) => sum + size, this.#total.size + this.#last.size + this.#ranges);
  }
}

/** The instructions of a pattern, about. */
export function programSize(pattern: string): number {
  const scale = new Scale();
  let at = 0;
  const atom = ([end, ranges]: readonly [number, number]): void => {
    scale.atom(ranges);
    at = end;
  };
  while (at < pattern.length) {
    const char = pattern[at];
    if (char === '(') {
      flags.lastIndex = at;
      const alone = flags.exec(pattern);
      if (alone) {
        at += alone[0].length;
        continue;
      }
      groupHead.lastIndex = at + 1;
      at += 1 + (groupHead.exec(pattern)?.[0].length ?? 0);
      scale.open();
    } else if (char === ')') {
      scale.close();
      at++;
    } else if (char === '{') {
      const { end, copies, isOptional } = readRepeat(pattern, at);
      if (end === undefined) scale.atom(0);
      else scale.repeat(copies, isOptional);
      at = end ?? at + 1;
    } else if (char === '*' || char === '+' || char === '?') {
      scale.more();
      at++;
    } else if (char === '[') atom(readClass(pattern, at));
    else if (char === '\\' && pattern[at + 1] === 'Q') {
      const end = pattern.indexOf('\\E', at);
      scale.literals((end < 0 ? pattern.length : end) - at);
      at = end < 0 ? pattern.length : end + 2;
    } else if (char === '\\') atom(readEscape(pattern, at));
    else atom([at + 1, 0]);
  }
  return scale.sum();
}
