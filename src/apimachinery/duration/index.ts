// Durations as Go writes and reads them (package time): "1h15m30.5s". metav1.Duration fields, flags and timeouts use this form.
import { quote } from '#utils';

const nanosecondsOf: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const int64Max = 2n ** 63n - 1n;
/** Longer numbers are out of range, whatever their unit. */
const integerDigitsMax = 19;
/** Further digits are below a nanosecond, whatever the unit. */
const fractionDigitsMax = 18;

/** A text that is no duration. `message` is upstream's. */
export class DurationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DurationError';
  }
}

function term(whole: string, integer: string, fraction: string, unit: string): bigint {
  if (unit === '') throw new DurationError(`time: missing unit in duration ${quote(whole)}`);
  const size = Object.hasOwn(nanosecondsOf, unit) ? nanosecondsOf[unit] : undefined;
  if (size === undefined) throw new DurationError(`time: unknown unit ${quote(unit)} in duration ${quote(whole)}`);
  const shown = fraction.slice(0, fractionDigitsMax);
  const below = shown === '' ? 0n : (BigInt(shown) * size) / 10n ** BigInt(shown.length);
  const digits = integer.replace(/^0+/, '');
  if (digits.length > integerDigitsMax) return int64Max + 2n;
  return BigInt(digits) * size + below;
}

/** The nanoseconds of a duration as Go writes it. Throws DurationError. */
export function parseDurationNs(text: string): bigint {
  const negative = text.startsWith('-');
  let rest = negative || text.startsWith('+') ? text.slice(1) : text;
  if (rest === '0') return 0n;
  const bad = (): DurationError => new DurationError(`time: invalid duration ${quote(text)}`);
  if (rest === '') throw bad();
  let total = 0n;
  while (rest !== '') {
    const match = /^(\d*)(?:\.(\d*))?([^\d.]*)/.exec(rest);
    const [all = '', integer = '', fraction = '', unit = ''] = match ?? [];
    if (integer === '' && fraction === '') throw bad();
    total += term(text, integer, fraction, unit);
    if (total > int64Max + (negative ? 1n : 0n)) throw bad();
    rest = rest.slice(all.length);
  }
  return negative ? -total : total;
}

/** Milliseconds of a Go duration, fractions kept as far as a double holds them. Throws DurationError. */
export const parseDurationMs = (text: string): number => Number(parseDurationNs(text)) / 1e6;

// "1.5" from 1500 and 3 digits: trailing zeros go.
function decimal(value: bigint, digits: number): string {
  const text = value.toString().padStart(digits + 1, '0');
  const fraction = text.slice(text.length - digits).replace(/0+$/, '');
  const integer = text.slice(0, text.length - digits);
  return fraction === '' ? integer : `${integer}.${fraction}`;
}

/** A duration in nanoseconds as Go prints it: "1h0m0s", "1.5s", "250ms", "0s". */
export function formatDurationNs(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 3)}\u00b5s`;
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 6)}ms`;
  const minute = 60_000_000_000n;
  const seconds = `${decimal(size % minute, 9)}s`;
  const minutes = size / minute;
  if (minutes === 0n) return sign + seconds;
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** A duration in milliseconds as Go prints it. */
export const formatDurationMs = (milliseconds: number): string => formatDurationNs(BigInt(Math.round(milliseconds * 1e6)));

/** The text an apiserver stores for a metav1.Duration. Throws DurationError. */
export const canonicalizeDuration = (text: string): string => formatDurationNs(parseDurationNs(text));
