// Watches that resume hear of objects that are no longer stored as they were, and need them decoded, encoded, shown in other versions. What is made of such
// an object serves all who resume at that time, and must not be kept for good: anybody may ask for all that is remembered.

interface Entry {
  bytes: number;
  letGo(): void;
}

/** Of what was made for those who hear of the past, the newest is kept, as long as its objects weigh no more than `bytesMax`. */
export class Remade {
  readonly #bytesMax: number;
  readonly #entries = new Set<Entry>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Something was made of an object of so many bytes. `letGo` is called once, when it is to be let go of. */
  add(bytes: number, letGo: () => void): void {
    const entry = { bytes, letGo };
    this.#entries.add(entry);
    this.#bytes += bytes;
    for (const oldest of this.#entries) {
      if (this.#bytes <= this.#bytesMax || oldest === entry) return;
      this.#entries.delete(oldest);
      this.#bytes -= oldest.bytes;
      oldest.letGo();
    }
  }
}
