// The standard functions and operators (https://github.com/google/cel-spec/blob/master/doc/langdef.md#list-of-standard-definitions).
import { comparisonCost, containsCost, joinedCost, patternCost, textCost } from '../run/call-costs.ts';
import { compare, equal } from '../values/compare.ts';
import { global, member } from '../check/environment.ts';
import { CelError, CostError } from '../errors.ts';
import { codePointCount, indexOf } from './text.ts';
import { madeTextCharsMax } from '../limits.ts';
import { spendWork } from '../meter.ts';
import { boolFrom, checked, doubleFrom, doubleText, intFrom, uintFrom, wholeOf } from '../values/numbers.ts';
import { matches } from '../values/patterns.ts';
import * as types from '../types.ts';
import { bool, bytes, double, duration, dyn, int, list, map, param, string, timestamp, typeType, uint } from '../types.ts';
import { Duration, durationText, parseDuration, parseTimestamp, Timestamp, timestampText } from '../values/times.ts';
import {
  keysOf,
  ListValue,
  type MapValue,
  memberOf,
  type ObjectValue,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from '../values/values.ts';

const A = param('A');
const B = param('B');
function divided(left: bigint, right: bigint, what: 'division' | 'modulus'): bigint {
  if (right === 0n) throw new CelError(`${what} by zero`);
  return what === 'division' ? left / right : left % right;
}

function concatenated(a: string, b: string): string {
  if (a.length + b.length > madeTextCharsMax) throw new CostError();
  return a + b;
}

function concatenatedBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  spendWork((a.length + b.length) / 16);
  const made = new Uint8Array(a.length + b.length);
  made.set(a);
  made.set(b, a.length);
  return made;
}

function concatenatedLists(a: ListValue, b: ListValue): ListValue {
  spendWork(a.size + b.size);
  return new ListValue([...a.values(), ...b.values()]);
}

const arithmetic = [
  global('_+_', [int, int], int, (a: bigint, b: bigint) => checked(a + b)),
  global('_-_', [int, int], int, (a: bigint, b: bigint) => checked(a - b)),
  global('_*_', [int, int], int, (a: bigint, b: bigint) => checked(a * b)),
  global('_/_', [int, int], int, (a: bigint, b: bigint) => checked(divided(a, b, 'division'))),
  global('_%_', [int, int], int, (a: bigint, b: bigint) => divided(a, b, 'modulus')),
  global('-_', [int], int, (a: bigint) => checked(-a)),
  global('_+_', [uint, uint], uint, (a: Uint, b: Uint) => new Uint(a.value + b.value)),
  global('_-_', [uint, uint], uint, (a: Uint, b: Uint) => new Uint(a.value - b.value)),
  global('_*_', [uint, uint], uint, (a: Uint, b: Uint) => new Uint(a.value * b.value)),
  global('_/_', [uint, uint], uint, (a: Uint, b: Uint) => new Uint(divided(a.value, b.value, 'division'))),
  global('_%_', [uint, uint], uint, (a: Uint, b: Uint) => new Uint(divided(a.value, b.value, 'modulus'))),
  global('_+_', [double, double], double, (a: number, b: number) => a + b),
  global('_-_', [double, double], double, (a: number, b: number) => a - b),
  global('_*_', [double, double], double, (a: number, b: number) => a * b),
  global('_/_', [double, double], double, (a: number, b: number) => a / b),
  global('-_', [double], double, (a: number) => -a),
  global('_+_', [string, string], string, concatenated, joinedCost),
  global('_+_', [bytes, bytes], bytes, concatenatedBytes, joinedCost),
  global('_+_', [list(A), list(A)], list(A), concatenatedLists),
  global('_+_', [timestamp, duration], timestamp, (a: Timestamp, b: Duration) => new Timestamp(a.ns + b.ns)),
  global('_+_', [duration, timestamp], timestamp, (a: Duration, b: Timestamp) => new Timestamp(a.ns + b.ns)),
  global('_+_', [duration, duration], duration, (a: Duration, b: Duration) => new Duration(a.ns + b.ns)),
  global('_-_', [timestamp, timestamp], duration, (a: Timestamp, b: Timestamp) => new Duration(a.ns - b.ns)),
  global('_-_', [timestamp, duration], timestamp, (a: Timestamp, b: Duration) => new Timestamp(a.ns - b.ns)),
  global('_-_', [duration, duration], duration, (a: Duration, b: Duration) => new Duration(a.ns - b.ns)),
];

const ordered = [bool, int, uint, double, string, bytes, timestamp, duration];
const numbers = [int, uint, double];
const orders: readonly [string, (order: number) => boolean][] = [
  ['_<_', (order) => order < 0],
  ['_<=_', (order) => order <= 0],
  ['_>_', (order) => order > 0],
  ['_>=_', (order) => order >= 0],
];

const comparisons = orders.flatMap(([name, holds]) => {
  const pairs = [
    ...ordered.map((type) => [type, type] as const),
    ...numbers.flatMap((one) => numbers.filter((two) => two !== one).map((two) => [one, two] as const)),
  ];
  return pairs.map((params) =>
    global(
      name,
      params,
      bool,
      (a: Value, b: Value) => {
        const order = compare(a, b);
        return order !== undefined && holds(order);
      },
      params[0] === string || params[0] === bytes ? comparisonCost : undefined,
    ),
  );
});

function isIn(value: Value, list: ListValue): boolean {
  for (let at = 0; at < list.size; at++) if (equal(list.at(at), value)) return true;
  return false;
}

const contains = (key: Value, mapping: MapValue | ObjectValue): boolean => memberOf(mapping, key) !== undefined;

const operators = [
  global('_&&_', [bool, bool], bool, (a: boolean, b: boolean) => a && b),
  global('_||_', [bool, bool], bool, (a: boolean, b: boolean) => a || b),
  global('_?_:_', [bool, A, A], A, (condition: boolean, a: Value, b: Value) => (condition ? a : b)),
  global('!_', [bool], bool, (a: boolean) => !a),
  global('_==_', [A, A], bool, (a: Value, b: Value) => equal(a, b), comparisonCost),
  global('_!=_', [A, A], bool, (a: Value, b: Value) => !equal(a, b), comparisonCost),
  global(
    '@in',
    [A, list(A)],
    bool,
    (a: Value, b: ListValue) => isIn(a, b),
    (_: Value, b: ListValue) => b.size,
  ),
  global('@in', [A, map(A, B)], bool, (a: Value, b: MapValue) => contains(a, b)),
  global('_[_]', [list(A), int], A, (a: ListValue, b: bigint) => a.at(Number(b))),
  global('_[_]', [map(A, B), A], B, (a: MapValue, b: Value) => memberOf(a, b) ?? null),
  global('_[_]', [types.optional(list(A)), int], types.optional(A), (a: Value) => a),
  global('_[_]', [types.optional(map(A, B)), A], types.optional(B), (a: Value) => a),
  global('_[?_]', [list(A), int], types.optional(A), (a: Value) => a),
  global('_[?_]', [types.optional(list(A)), int], types.optional(A), (a: Value) => a),
  global('_[?_]', [map(A, B), A], types.optional(B), (a: Value) => a),
  global('_[?_]', [types.optional(map(A, B)), A], types.optional(B), (a: Value) => a),
];

const sizeOf = (value: Value): bigint => {
  if (typeof value === 'string') return BigInt(codePointCount(value));
  if (value instanceof Uint8Array) return BigInt(value.length);
  if (value instanceof ListValue) return BigInt(value.size);
  return BigInt(keysOf(value)?.length ?? 0);
};

const sizes = [string, bytes, list(A), map(A, B)].flatMap((type) => [
  global('size', [type], int, sizeOf),
  member('size', [type], int, sizeOf),
]);

const strings = [
  member('startsWith', [string, string], bool, (a: string, b: string) => a.startsWith(b), textCost),
  member('endsWith', [string, string], bool, (a: string, b: string) => a.endsWith(b), textCost),
  member('contains', [string, string], bool, (a: string, b: string) => indexOf(a, b) >= 0n, containsCost),
  member('matches', [string, string], bool, matches, patternCost),
  global('matches', [string, string], bool, matches, patternCost),
];

function utf8(value: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(value);
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

const second = 1_000_000_000n;
const itself = (value: Value): Value => value;

const conversions = [
  global('dyn', [A], dyn, itself),
  global('type', [A], typeType, (value: Value) => new TypeValue(typeNameOf(value))),
  global('int', [int], int, itself),
  global('int', [uint], int, ({ value }: Uint) => checked(value)),
  global('int', [double], int, wholeOf),
  global('int', [string], int, intFrom),
  global('int', [timestamp], int, ({ ns }: Timestamp) => ns / second),
  global('uint', [uint], uint, itself),
  global('uint', [int], uint, (value: bigint) => new Uint(value)),
  global('uint', [double], uint, (value: number) => new Uint(wholeOf(value))),
  global('uint', [string], uint, uintFrom),
  global('double', [double], double, itself),
  global('double', [int], double, (value: bigint) => Number(value)),
  global('double', [uint], double, ({ value }: Uint) => Number(value)),
  global('double', [string], double, doubleFrom),
  global('bool', [bool], bool, itself),
  global('bool', [string], bool, boolFrom),
  global('string', [string], string, itself),
  global('string', [bool], string, (value: boolean) => String(value)),
  global('string', [int], string, (value: bigint) => String(value)),
  global('string', [uint], string, ({ value }: Uint) => String(value)),
  global('string', [double], string, doubleText),
  global('string', [bytes], string, utf8, textCost),
  global('string', [timestamp], string, timestampText),
  global('string', [duration], string, durationText),
  global('bytes', [bytes], bytes, itself),
  global('bytes', [string], bytes, (text: string) => new TextEncoder().encode(text), textCost),
  global('timestamp', [timestamp], timestamp, itself),
  global('timestamp', [string], timestamp, parseTimestamp),
  global('timestamp', [int], timestamp, (seconds: bigint) => new Timestamp(seconds * second)),
  global('duration', [duration], duration, itself),
  global('duration', [string], duration, parseDuration),
  global('duration', [int], duration, (ns: bigint) => new Duration(ns)),
];

/** The wall clock of a time zone: an offset or a name; UTC for none. */
function clockOf({ ns }: Timestamp, zone = 'UTC'): Date {
  const ms = Number(ns / 1_000_000n);
  const offset = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
  if (offset) return new Date(ms + (offset[1] === '-' ? -1 : 1) * (Number(offset[2]) * 60 + Number(offset[3])) * 60_000);
  if (zone === 'UTC') return new Date(ms);
  try {
    const parts = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }).formatToParts(new Date(ms));
    const at = (type: string): number => Number(parts.find((part) => part.type === type)?.value ?? 0);
    return new Date(
      Date.UTC(at('year'), at('month') - 1, at('day'), at('hour'), at('minute'), at('second'), ((ms % 1000) + 1000) % 1000),
    );
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
}

const clockParts: Record<string, (clock: Date) => number> = {
  getFullYear: (clock) => clock.getUTCFullYear(),
  getMonth: (clock) => clock.getUTCMonth(),
  getDate: (clock) => clock.getUTCDate(),
  getDayOfMonth: (clock) => clock.getUTCDate() - 1,
  getDayOfWeek: (clock) => clock.getUTCDay(),
  getDayOfYear: (clock) => Math.floor((clock.getTime() - Date.UTC(clock.getUTCFullYear(), 0, 1)) / 86_400_000),
  getHours: (clock) => clock.getUTCHours(),
  getMinutes: (clock) => clock.getUTCMinutes(),
  getSeconds: (clock) => clock.getUTCSeconds(),
  getMilliseconds: (clock) => clock.getUTCMilliseconds(),
};
const durationParts: Record<string, bigint> = {
  getHours: 3600n * second,
  getMinutes: 60n * second,
  getSeconds: second,
  getMilliseconds: 1_000_000n,
};

const times = [
  ...Object.entries(clockParts).flatMap(([name, part]) => [
    member(name, [timestamp], int, (time: Timestamp) => BigInt(part(clockOf(time)))),
    member(name, [timestamp, string], int, (time: Timestamp, zone: string) => BigInt(part(clockOf(time, zone)))),
  ]),
  ...Object.entries(durationParts).map(([name, unit]) =>
    member(name, [duration], int, ({ ns }: Duration) => (name === 'getMilliseconds' ? (ns / unit) % 1000n : ns / unit)),
  ),
];

/** The functions and operators of standard CEL, as rows for `functionTable`. */
export const standardFunctions = [...arithmetic, ...comparisons, ...operators, ...sizes, ...strings, ...conversions, ...times];

export const standardTypeNames = [
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'list',
  'map',
  'null_type',
  'type',
  'google.protobuf.Timestamp',
  'google.protobuf.Duration',
];
