// Times of CEL: nanoseconds, within the range of google.protobuf.Timestamp and of Go's time.Duration.
import { DurationError, parseDurationNs } from '#apimachinery/duration';
import { CelError } from '../errors.ts';
import { readTextCharsMax } from '../limits.ts';

const second = 1_000_000_000n;
/** From the start of the year 1 to the end of the year 9999. */
const timestampMin = -62_135_596_800n * second;
const timestampMax = 253_402_300_800n * second - 1n;

export class Timestamp {
  /** Nanoseconds since the epoch. */
  readonly ns: bigint;
  constructor(ns: bigint) {
    if (ns < timestampMin || ns > timestampMax) throw new CelError('timestamp overflow');
    this.ns = ns;
  }
}

export class Duration {
  readonly ns: bigint;
  constructor(ns: bigint) {
    if (ns < -(2n ** 63n) || ns >= 2n ** 63n) throw new CelError('integer overflow');
    this.ns = ns;
  }
}

/** Reads a time in RFC 3339, with any number of digits behind the seconds. */
export function parseTimestamp(text: string): Timestamp {
  const match =
    text.length > readTextCharsMax
      ? null
      : /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9})\d*)?(Z|z|[+-]\d\d:\d\d)$/.exec(text);
  const ms = match ? Date.parse(`${match[1]}T${match[2]}${match[4]?.toUpperCase()}`) : Number.NaN;
  if (Number.isNaN(ms)) throw new CelError(`parsing time "${text}" as "2006-01-02T15:04:05Z07:00": cannot parse`);
  return new Timestamp(BigInt(ms) * 1_000_000n + BigInt((match?.[3] ?? '').padEnd(9, '0')));
}

export function parseDuration(text: string): Duration {
  if (text.length > readTextCharsMax) throw new CelError(`time: invalid duration ${JSON.stringify(text)}`);
  try {
    return new Duration(parseDurationNs(text));
  } catch (error) {
    if (error instanceof DurationError) throw new CelError(error.message);
    throw error;
  }
}

export function timestampText({ ns }: Timestamp): string {
  const seconds = ns / second - (ns % second < 0n ? 1n : 0n);
  const rest = ns - seconds * second;
  const head = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  const fraction = rest === 0n ? '' : `.${rest.toString().padStart(9, '0').replace(/0+$/, '')}`;
  return `${head}${fraction}Z`;
}

/** A duration as CEL writes it, in seconds with a fraction: `90.5s`. */
export function durationText({ ns }: Duration): string {
  const size = ns < 0n ? -ns : ns;
  const fraction = size % second;
  const text = fraction === 0n ? '' : `.${fraction.toString().padStart(9, '0').replace(/0+$/, '')}`;
  return `${ns < 0n ? '-' : ''}${size / second}${text}s`;
}
