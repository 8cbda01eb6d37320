// A position in a YAML text, with tests of the characters there as YAML 1.1 classifies them: the lowest layer of the reader. The column is always
// known, because indentation decides where blocks begin and end; lines are counted only when an error message names one.

export class Cursor {
  readonly text: string;
  at = 0;
  /** Where the line begins. */
  lineStart = 0;

  constructor(text: string) {
    this.text = text;
  }

  get column(): number {
    return this.at - this.lineStart;
  }

  /** The character code here or further on; NaN behind the end. */
  code(ahead = 0): number {
    return this.text.charCodeAt(this.at + ahead);
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** Passes one line break and gives the text it stands for: all but the separators of lines and paragraphs count as a new line. */
  passBreak(): string {
    const code = this.text.charCodeAt(this.at);
    this.at += code === 13 && this.text.charCodeAt(this.at + 1) === 10 ? 2 : 1;
    this.lineStart = this.at;
    return code < 0x20_28 ? '\n' : String.fromCharCode(code);
  }

  /** Passes everything up to the end of the line and gives it. */
  passLine(): string {
    const start = this.at;
    lineEnd.lastIndex = start;
    this.at = lineEnd.test(this.text) ? lineEnd.lastIndex - 1 : this.text.length;
    return this.text.slice(start, this.at);
  }

  passBlanks(): void {
    while (isBlank(this.code())) this.at++;
  }

  passComment(): void {
    if (this.code() === 35) this.passLine();
  }

  /** `---` or `...` alone at the start of a line. */
  get isAtDocumentMark(): boolean {
    if (this.at !== this.lineStart) return false;
    const code = this.code();
    return (code === 45 || code === 46) && this.code(1) === code && this.code(2) === code && isBlankOrEnd(this.code(3));
  }
}

const lineEnd = /[\n\r\u0085\u2028\u2029]/g;

export const isBlank = (code: number): boolean => code === 32 || code === 9;
export const isBreak = (code: number): boolean =>
  code <= 13 ? code === 10 || code === 13 : code >= 0x85 && (code === 0x85 || code === 0x20_28 || code === 0x20_29);
// NaN, behind the end, is equal to nothing.
const isEnd = (code: number): boolean => !(code >= 0);
export const isBreakOrEnd = (code: number): boolean => isBreak(code) || isEnd(code);
export const isBlankOrEnd = (code: number): boolean => isBlank(code) || isBreak(code) || isEnd(code);
/** What anchors and the names of tags are made of. */
export const isWord = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95 || code === 45;

// oxlint-disable-next-line no-control-regex -- these are what YAML forbids
export const forbiddenCharacters = /[\0-\x08\v\f\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

const lineBreak = /\r\n|[\n\r\u0085\u2028\u2029]/g;

/** Tells lines, from 0, by the place in the text. */
export class Lines {
  readonly #text: string;
  #starts: number[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  of(at: number): number {
    this.#starts ??= this.#find();
    let [low, high] = [0, this.#starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] as number) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Where each line but the first begins. */
  #find(): number[] {
    const starts: number[] = [];
    lineBreak.lastIndex = 0;
    while (lineBreak.test(this.#text)) starts.push(lineBreak.lastIndex);
    return starts;
  }
}

/** Whether the text has more than so many lines. */
export function hasMoreLines(text: string, linesMax: number): boolean {
  lineEnd.lastIndex = 0;
  for (let lines = 0; lineEnd.test(text); lines++) if (lines >= linesMax) return true;
  return false;
}
