// Randomness as an argument. Seeded, so that every failure of a simulation is a number.

/** A source of random numbers. Not for secrets: those come from `#pki`. */
export interface Rng {
  /** A float in [0, 1). */
  next(): number;
  /** An integer in [0, bound); `bound` must be positive. */
  int(bound: number): number;
  /** A version 4 UUID. */
  uuid(): string;
}

const hexDigit = (n: number): string => n.toString(16);

/** A small fast generator (sfc32) whose whole sequence follows from `seed`. */
export function seededRng(seed: number): Rng {
  let a = 0x9e3779b9 | 0;
  let b = 0x243f6a88 | 0;
  let c = seed | 0;
  let counter = 1;
  const word = (): number => {
    const t = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  for (let i = 0; i < 12; i++) word();
  const next = (): number => word() / 4294967296;
  const int = (bound: number): number => Math.floor(next() * bound);
  const uuid = (): string =>
    'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (slot) => hexDigit(slot === 'x' ? int(16) : 8 + int(4)));
  return { next, int, uuid };
}
