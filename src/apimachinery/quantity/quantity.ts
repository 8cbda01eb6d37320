// Resource quantities (k8s.io/apimachinery/pkg/api/resource): exact fixed-point numbers that remember how they were written.
import { compact, overPowerOfTen, plus, removeFactor, times, timesPowerOfTen, type Unscaled } from './amount.ts';
import { memoEntriesMax } from './limits.ts';
import { binarySuffixes, decimalSuffixes, parseText, type QuantityFormat } from './parse.ts';

const decimalNames = new Map(Object.entries(decimalSuffixes).map(([name, exponent]) => [exponent, name]));
const binaryNames = new Map(Object.entries(binarySuffixes).map(([name, exponent]) => [exponent, name]));
const largestDecimal = 18;

/** An immutable amount. */
export class Quantity {
  readonly format: QuantityFormat;
  readonly #unscaled: Unscaled;
  readonly #scale: number;
  #text: string | undefined;

  constructor(unscaled: Unscaled, scale: number, format: QuantityFormat, text?: string) {
    this.#unscaled = unscaled;
    this.#scale = scale;
    this.format = format;
    this.#text = text;
  }

  get sign(): -1 | 0 | 1 {
    return this.#unscaled > 0 ? 1 : this.#unscaled < 0 ? -1 : 0;
  }

  get isZero(): boolean {
    return this.#unscaled === 0;
  }

  /** -1, 0 or 1, by value. */
  compare(other: Quantity): -1 | 0 | 1 {
    const scale = Math.min(this.#scale, other.#scale);
    const a = timesPowerOfTen(this.#unscaled, this.#scale - scale);
    const b = timesPowerOfTen(other.#unscaled, other.#scale - scale);
    return a < b ? -1 : a > b ? 1 : 0;
  }

  /** Equal by value, however written. */
  equals(other: Quantity): boolean {
    return this.compare(other) === 0;
  }

  /** The sum, written as this one, or as the other when this is zero. */
  add(other: Quantity): Quantity {
    const scale = Math.min(this.#scale, other.#scale);
    const sum = plus(
      timesPowerOfTen(this.#unscaled, this.#scale - scale),
      timesPowerOfTen(other.#unscaled, other.#scale - scale),
    );
    return new Quantity(sum, scale, this.isZero ? other.format : this.format);
  }

  sub(other: Quantity): Quantity {
    return this.add(other.negate());
  }

  negate(): Quantity {
    return new Quantity(typeof this.#unscaled === 'number' ? 0 - this.#unscaled : -this.#unscaled, this.#scale, this.format);
  }

  /** Times an integer. */
  multiply(factor: number): Quantity {
    return new Quantity(times(this.#unscaled, factor), this.#scale, this.format);
  }

  /** The amount in units of 10^scale, rounded away from zero. Beyond 2^53 the number is approximate: see `scaledBigInt`. */
  scaledValue(scale: number): number {
    return Number(this.#scaled(scale));
  }

  /** The value without rounding. */
  scaledBigInt(scale: number): bigint {
    return BigInt(this.#scaled(scale));
  }

  #scaled(scale: number): Unscaled {
    return this.#scale >= scale
      ? timesPowerOfTen(this.#unscaled, this.#scale - scale)
      : overPowerOfTen(this.#unscaled, scale - this.#scale);
  }

  /** Whole units, rounded away from zero. */
  value(): number {
    return this.scaledValue(0);
  }

  /** Thousandths, rounded away from zero: what CPU is counted in. */
  milliValue(): number {
    return this.scaledValue(-3);
  }

  /** The nearest double. */
  toNumber(): number {
    return this.#scale >= 0 ? Number(this.#unscaled) * 10 ** this.#scale : Number(this.#unscaled) / 10 ** -this.#scale;
  }

  /** Nothing would be lost by rounding to units of 10^scale. */
  isExactAt(scale: number): boolean {
    return (
      this.#scale >= scale || removeFactor(this.#unscaled, 10, scale - this.#scale).count === scale - this.#scale || this.isZero
    );
  }

  /** Rounded away from zero to units of 10^scale, written anew. */
  roundUp(scale: number): Quantity {
    return this.#scale >= scale ? this : new Quantity(overPowerOfTen(this.#unscaled, scale - this.#scale), scale, this.format);
  }

  /** The canonical text; for a parsed quantity what upstream would print for it. */
  toString(): string {
    this.#text ??= this.#render();
    return this.#text;
  }

  toJSON(): string {
    return this.toString();
  }

  #render(): string {
    if (this.isZero) return '0';
    if (this.format === 'BinarySI' && this.isExactAt(0)) {
      const whole = this.#scaled(0);
      if (whole >= 1024 || whole <= -1024) {
        const { rest, count } = removeFactor(whole, 1024, 6);
        return `${rest}${binaryNames.get(count * 10) ?? ''}`;
      }
    }
    const exponential = this.format === 'DecimalExponent';
    const { rest, count } = removeFactor(this.#unscaled, 10, Number.POSITIVE_INFINITY);
    const bare = this.#scale + count;
    const down = bare - 3 * Math.floor(bare / 3);
    const exponent = exponential ? bare - down : Math.min(bare - down, largestDecimal);
    const digits = timesPowerOfTen(rest, bare - exponent);
    if (exponential) return exponent === 0 ? `${digits}` : `${digits}e${exponent}`;
    return `${digits}${decimalNames.get(exponent) ?? ''}`;
  }
}

// Quantities are few and repeated ("100m", "1Gi"), and immutable: parsing each text once is most of their cost saved.
const memo = new Map<string, Quantity>();

/** Reads a quantity: a text, or a JSON number. Throws QuantityError with upstream's text. */
export function parseQuantity(input: string | number): Quantity {
  const text = String(input);
  const known = memo.get(text);
  if (known !== undefined) return known;
  const trimmed = text.trim();
  const { unscaled, scale, format, keepsText } = parseText(trimmed);
  const quantity = new Quantity(compact(unscaled), scale, format, keepsText ? trimmed : undefined);
  if (memo.size >= memoEntriesMax) memo.clear();
  memo.set(text, quantity);
  return quantity;
}

/** The text an apiserver stores for a quantity. Throws QuantityError. */
export const canonicalize = (input: string | number): string => parseQuantity(input).toString();

/** A quantity of `value` whole units. */
export const quantityOf = (value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity =>
  new Quantity(typeof value === 'bigint' ? compact(value) : value, 0, format);

/** A quantity of `value` thousandths of a unit. */
export const milliQuantity = (value: number, format: QuantityFormat = 'DecimalSI'): Quantity => new Quantity(value, -3, format);

export const zeroQuantity: Quantity = quantityOf(0);

/** Compares two quantity texts by value. Throws QuantityError. */
export const compareQuantities = (a: string | number, b: string | number): -1 | 0 | 1 =>
  parseQuantity(a).compare(parseQuantity(b));
