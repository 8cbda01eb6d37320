// The text form of quantities (k8s.io/apimachinery/pkg/api/resource): sign, digits, and a decimal, binary or exponent suffix.
import { binaryMax, exponentMax, smallestScale, textLengthMax } from './limits.ts';

/** How a quantity is written: 12Mi, 12M, 12e6. */
export type QuantityFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent';

/** A text taken apart: value = unscaled * 10^scale. */
export interface Parsed {
  unscaled: bigint;
  /** At least -9. */
  scale: number;
  format: QuantityFormat;
  /** The text stays its own canonical form (upstream keeps what was written in the simple cases). */
  keepsText: boolean;
}

const formatMessage = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const suffixMessage = "unable to parse quantity's suffix";

/** A text that is no quantity. `message` is upstream's. */
export class QuantityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'QuantityError';
  }
}

export const decimalSuffixes: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
export const binarySuffixes: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

interface Suffix {
  format: QuantityFormat;
  /** Power of ten, or of two for BinarySI. */
  exponent: number;
}

function parseSuffix(text: string): Suffix {
  if (Object.hasOwn(decimalSuffixes, text)) return { format: 'DecimalSI', exponent: decimalSuffixes[text] ?? 0 };
  if (Object.hasOwn(binarySuffixes, text)) return { format: 'BinarySI', exponent: binarySuffixes[text] ?? 0 };
  if (!/^[eE][+-]?[0-9]+$/.test(text)) throw new QuantityError(suffixMessage);
  const exponent = Number(text.slice(1));
  if (Math.abs(exponent) > exponentMax) throw new QuantityError(suffixMessage);
  return { format: 'DecimalExponent', exponent };
}

// As upstream's, but no two neighbours take the same characters: a text that does not match costs its length.
const grammar = /^([+-]?)([0-9]*)(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?|[-+])[0-9]*)?$/;

// Upstream's int64 path keeps a text that is already in the form it would print.
function keeps(suffix: Suffix, integer: string, fraction: string, scale: number): boolean {
  if (suffix.format === 'BinarySI') {
    const digits = 15 - integer.length - Math.trunc((suffix.exponent * 3) / 10) - 1;
    return fraction === '' && digits >= 0 && (BigInt(integer) & 7n) !== 0n;
  }
  const shifted = integer + fraction;
  return (
    18 - shifted.length >= 0 && scale >= smallestScale && scale % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0')
  );
}

/** Rounds away from zero to the smallest scale. */
function limitScale(unscaled: bigint, scale: number): { unscaled: bigint; scale: number } {
  if (scale >= smallestScale) return { unscaled, scale };
  const divisor = 10n ** BigInt(smallestScale - scale);
  const quotient = unscaled / divisor;
  const rest = unscaled % divisor;
  return { unscaled: rest === 0n ? quotient : quotient + (unscaled < 0n ? -1n : 1n), scale: smallestScale };
}

/** Takes a quantity text apart. Throws QuantityError. */
export function parseText(text: string): Parsed {
  const match = text.length > textLengthMax ? null : grammar.exec(text);
  if (match === null || text === '') throw new QuantityError(formatMessage);
  const [, sign, digits = '', fraction = '', suffixText = ''] = match;
  const integer = digits.replace(/^0+/, '') || '0';
  const suffix = parseSuffix(suffixText);
  const negative = sign === '-';
  const magnitude = BigInt(integer + fraction);
  const binary = suffix.format === 'BinarySI';
  const scale = (binary ? 0 : suffix.exponent) - fraction.length;
  const multiplied = binary ? magnitude << BigInt(suffix.exponent) : magnitude;
  const capped =
    binary && multiplied > binaryMax * 10n ** BigInt(fraction.length) ? binaryMax * 10n ** BigInt(fraction.length) : multiplied;
  const limited = limitScale(negative ? -capped : capped, scale);
  const belowOne = binary && fraction !== '' && magnitude > 0n && multiplied < 10n ** BigInt(fraction.length);
  return {
    ...limited,
    format: belowOne ? 'DecimalSI' : suffix.format,
    keepsText: magnitude !== 0n && keeps(suffix, integer, fraction, scale),
  };
}
