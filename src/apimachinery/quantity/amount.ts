// Exact decimal arithmetic for quantities: value = unscaled * 10^scale. Amounts that fit stay plain numbers; what does not becomes a bigint,
// so the common case costs no allocation and the rare one is still exact.

export type Unscaled = number | bigint;

const safe = BigInt(Number.MAX_SAFE_INTEGER);

/** The number form where it is exact. */
export const compact = (value: bigint): Unscaled => (value <= safe && value >= -safe ? Number(value) : value);

const powers = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

/** Computes unscaled * 10^exponent for an exponent of 0 or more. */
export function timesPowerOfTen(unscaled: Unscaled, exponent: number): Unscaled {
  if (exponent === 0) return unscaled;
  const power = powers[exponent];
  if (typeof unscaled === 'number' && power !== undefined) {
    const product = unscaled * power;
    if (Number.isSafeInteger(product)) return product;
  }
  return compact(BigInt(unscaled) * 10n ** BigInt(exponent));
}

/** Computes unscaled / 10^exponent for exponent >= 0, rounded away from zero. */
export function overPowerOfTen(unscaled: Unscaled, exponent: number): Unscaled {
  if (exponent === 0) return unscaled;
  const power = powers[exponent];
  if (typeof unscaled === 'number' && power !== undefined) {
    const quotient = Math.trunc(unscaled / power);
    return unscaled % power === 0 ? quotient : quotient + Math.sign(unscaled);
  }
  const divisor = 10n ** BigInt(exponent);
  const value = BigInt(unscaled);
  const quotient = value / divisor;
  return compact(value % divisor === 0n ? quotient : quotient + (value < 0n ? -1n : 1n));
}

export function plus(a: Unscaled, b: Unscaled): Unscaled {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return compact(BigInt(a) + BigInt(b));
}

export function times(a: Unscaled, b: Unscaled): Unscaled {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    if (Number.isSafeInteger(product)) return product;
  }
  return compact(BigInt(a) * BigInt(b));
}

/** Removes a factor as often as it divides, at most `timesMax` times. Returns what is left and how often. */
export function removeFactor(unscaled: Unscaled, factor: number, timesMax: number): { rest: Unscaled; count: number } {
  let count = 0;
  let rest = unscaled;
  while (typeof rest === 'bigint' && count < timesMax && rest % BigInt(factor) === 0n) {
    rest = compact(rest / BigInt(factor));
    count++;
  }
  while (typeof rest === 'number' && rest !== 0 && count < timesMax && rest % factor === 0) {
    rest /= factor;
    count++;
  }
  return { rest, count };
}
