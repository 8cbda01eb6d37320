// Characters that no instruction of a program tells apart are one class, so that tables have a column for each class instead of one for
// each of a million characters.
import { place } from './instructions.ts';

/** What stands beside a place between two characters. */
export const side = { edge: 0, newline: 1, word: 2, other: 3 };

const isWord = (rune: number): boolean =>
  (rune >= 48 && rune <= 57) || (rune >= 65 && rune <= 90) || rune === 95 || (rune >= 97 && rune <= 122);
const newline = 10;
const wordRanges = [48, 57, 65, 90, 95, 95, 97, 122];

export class RuneClasses {
  /** First characters of all classes but the first. */
  readonly #bounds: Int32Array;
  /** Classes of the first 256 characters. */
  readonly latin = new Uint16Array(256);
  /** What a character of the class is to its neighbours, as far as the program asks; of the end of the text for the last class. */
  readonly sides: Uint8Array;
  /** The class of the end of the text. */
  readonly end: number;

  constructor(ranges: Iterable<ArrayLike<number>>, places: number) {
    const asksWord = (places & (place.wordBoundary | place.noWordBoundary)) !== 0;
    const asksLine = (places & (place.beginLine | place.endLine)) !== 0;
    const bounds = new Set<number>();
    const add = (own: ArrayLike<number>): void => {
      for (let at = 0; at < own.length; at += 2) {
        bounds.add(own[at] ?? 0);
        bounds.add((own[at + 1] ?? 0) + 1);
      }
    };
    for (const own of ranges) add(own);
    if (asksWord) add(wordRanges);
    if (asksLine) add([newline, newline]);
    bounds.delete(0);
    this.#bounds = Int32Array.from(bounds).sort();
    this.end = this.#bounds.length + 1;
    for (let rune = 0; rune < 256; rune++) this.latin[rune] = this.#search(rune);
    this.sides = new Uint8Array(this.end + 1).fill(side.other);
    for (let one = 0; one < this.end; one++) {
      const rune = one === 0 ? 0 : (this.#bounds[one - 1] ?? 0);
      if (asksLine && rune === newline) this.sides[one] = side.newline;
      else if (asksWord && isWord(rune)) this.sides[one] = side.word;
    }
    this.sides[this.end] = side.edge;
  }

  #search(rune: number): number {
    let low = 0;
    let high = this.#bounds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#bounds[middle] ?? 0) <= rune) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  of(rune: number): number {
    return rune < 256 ? (this.latin[rune] ?? 0) : this.#search(rune);
  }

  /** Ranges of characters as ranges of classes. */
  spansOf(ranges: ArrayLike<number>): Int32Array {
    return Int32Array.from(ranges, (rune) => this.#search(rune));
  }
}

/** The character at a place of a text. Half of a pair alone is U+FFFD, as it is to Go. */
export function runeAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  const rune = text.codePointAt(at) ?? 0;
  return rune > 0xffff ? rune : 0xfffd;
}

/** The kinds of place, as bits, that lie between two neighbouring characters. */
export function placesBetween(before: number, after: number): number {
  let places = 0;
  if (before === side.edge) places |= place.beginText | place.beginLine;
  if (before === side.newline) places |= place.beginLine;
  if (after === side.edge) places |= place.endText | place.endLine;
  if (after === side.newline) places |= place.endLine;
  return places | ((before === side.word) !== (after === side.word) ? place.wordBoundary : place.noWordBoundary);
}

/** Whether a class is in one of the spans. */
export function takesClass(spans: Int32Array, one: number): boolean {
  if (spans.length <= 8) {
    for (let at = 0; at < spans.length; at += 2)
      if (one >= (spans[at] as number) && one <= (spans[at + 1] as number)) return true;
    return false;
  }
  let low = 0;
  let high = spans.length >> 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[2 * middle + 1] as number) < one) low = middle + 1;
    else high = middle;
  }
  return low < spans.length >> 1 && (spans[2 * low] as number) <= one;
}
