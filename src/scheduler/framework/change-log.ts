// Which nodes changed since when: derived views replay it instead of looking at every node again.
import { changeLogMax } from './limits.ts';

export class ChangeLog {
  #entries: number[] = [];
  #base = 0;

  /** The point in time that `since` is asked about later. */
  get version(): number {
    return this.#base + this.#entries.length;
  }
  add(index: number): void {
    if (this.#entries.length >= changeLogMax) {
      this.#base += this.#entries.length;
      this.#entries = [];
    }
    this.#entries.push(index);
  }
  /** Whether everything after `version` is still known. */
  covers(version: number): boolean {
    return version >= this.#base;
  }
  /** Calls `visit` for each change after `version`, repeats included. */
  replay(version: number, visit: (index: number) => void): void {
    for (let i = version - this.#base; i < this.#entries.length; i++) visit(this.#entries[i] as number);
  }
}
