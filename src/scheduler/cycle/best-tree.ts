// A tournament over scores by index: the best one, and a random one of several equal, in logarithmic time after each change.
import type { Rng } from '#utils';

const absent = Number.NEGATIVE_INFINITY;

export class BestTree {
  readonly #leaves: number;
  readonly #best: Float64Array;
  /** How many leaves below have the best score. */
  readonly #ties: Int32Array;

  constructor(size: number) {
    this.#leaves = 2 ** Math.ceil(Math.log2(Math.max(size, 1)));
    this.#best = new Float64Array(2 * this.#leaves).fill(absent);
    this.#ties = new Int32Array(2 * this.#leaves);
  }
  set(index: number, score: number): void {
    this.#leaf(index, score);
    for (let at = (index + this.#leaves) >> 1; at >= 1; at >>= 1) this.#join(at);
  }
  delete(index: number): void {
    this.set(index, absent);
  }
  /** Sets all at once; `scoreOf` gives undefined for what does not take part. */
  fill(size: number, scoreOf: (index: number) => number | undefined): void {
    for (let i = 0; i < size; i++) this.#leaf(i, scoreOf(i) ?? absent);
    for (let at = this.#leaves - 1; at >= 1; at--) this.#join(at);
  }
  /** -1 when nothing takes part. */
  pick(rng: Rng): number {
    const ties = this.#ties[1] as number;
    if (ties === 0) return -1;
    let skip = ties > 1 ? rng.int(ties) : 0;
    let at = 1;
    while (at < this.#leaves) {
      const left = 2 * at;
      const inLeft = this.#best[left] === this.#best[at] ? (this.#ties[left] as number) : 0;
      if (skip < inLeft) at = left;
      else {
        skip -= inLeft;
        at = left + 1;
      }
    }
    return at - this.#leaves;
  }
  /** The `count` best, best first. */
  top(count: number): number[] {
    const open = [1];
    const found: number[] = [];
    while (found.length < count && open.length > 0) {
      // Among equals the newest, which is the deepest: otherwise a tree of equal scores would be unfolded level by level.
      let next = 0;
      for (let i = 1; i < open.length; i++) {
        if ((this.#best[open[i] as number] as number) >= (this.#best[open[next] as number] as number)) next = i;
      }
      const [at] = open.splice(next, 1) as [number];
      if (this.#ties[at] === 0) continue;
      if (at >= this.#leaves) found.push(at - this.#leaves);
      else open.push(2 * at, 2 * at + 1);
    }
    return found;
  }
  #leaf(index: number, score: number): void {
    this.#best[index + this.#leaves] = score;
    this.#ties[index + this.#leaves] = score === absent ? 0 : 1;
  }
  #join(at: number): void {
    const left = this.#best[2 * at] as number;
    const right = this.#best[2 * at + 1] as number;
    const leftTies = this.#ties[2 * at] as number;
    const rightTies = this.#ties[2 * at + 1] as number;
    this.#best[at] = left > right ? left : right;
    this.#ties[at] = left > right ? leftTies : left < right ? rightTies : leftTies + rightTies;
  }
}
