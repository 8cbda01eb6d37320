// Values that a type of the API allows and nobody expects: null, empty and huge ones, unknown words, odd texts, numbers at the edge, times of
// other centuries. Generated from the schema table, so that a field that is new is tried as well.
import { builtinSchema } from '#api';
import type { FieldSchema, TypeSchema } from '#apimachinery/schema';
import type { Rng } from '#utils';

const depthMax = 6;
const hugeList = 300;

const texts = [
  '',
  ' ',
  'a',
  'A b',
  '\u0000',
  'line\nbreak\t"quoted" \\ \'single\'',
  '\u202eright to left',
  '👩‍👩‍👧‍👦🏴‍☠️',
  'é漢\u0301\u200b',
  '\ud800',
  '__proto__',
  'constructor',
  'toString',
  '-1',
  '3546343826724305832',
  '9223372036854775808',
  '1e400',
  '0x1f',
  '100%',
  '-5%',
  '*',
  '../../etc/passwd',
  'a/b/c',
  '10.0.0.0/33',
  '10.96.0.1',
  '999.1.1.1',
  'fe80::1%eth0',
  // What is right for addresses, and odd for what is made of it.
  '0.0.0.0/0',
  '0.0.0.0',
  '::/0',
  '255.255.255.255/32',
  '255.255.255.255',
  '10.96.0.0/12',
  '10.96.255.255/32',
  '169.254.169.254',
  '224.0.0.1',
  '2001:db8::/128',
  '64:ff9b::10.0.0.1',
  'Resource',
  'External',
  '::',
  'None',
  'true',
  '{"a":null}',
  '[]',
  '-A KUBE-SERVICES -j DROP',
  'node-1',
  'default',
  'kubernetes.io/x',
  'a'.repeat(63),
  'b'.repeat(300),
  'long '.repeat(4000),
];
const quantities = [
  '0',
  '1',
  '-1',
  '100m',
  '1e18',
  '1Ei',
  '0.000000001',
  '-9223372036854775807',
  '1e-9',
  '.5',
  '1E',
  '12345678901234567890Gi',
  '9'.repeat(60),
];
const times = [
  '0001-01-01T00:00:00Z',
  '0001-01-01T00:00:01Z',
  '1969-12-31T23:59:59Z',
  '2026-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
];
const int32 = [0, 1, -1, 2, 100, 101, 65_536, 2 ** 31 - 1, -(2 ** 31)];
const int64 = [...int32, 2 ** 53, -(2 ** 53), 2 ** 62];
const others = [null, 0, -0.5, '', [], {}, true, [null], { a: null, b: [{}] }, 'text'];

export class OddValues {
  readonly #rng: Rng;

  constructor(rng: Rng) {
    this.#rng = rng;
  }
  pick<T>(values: readonly T[]): T {
    return values[this.#rng.int(values.length)] as T;
  }
  chance(percent: number): boolean {
    return this.#rng.int(100) < percent;
  }
  text(): string {
    return this.pick(texts);
  }
  /** A value of the field, or null. */
  value(field: FieldSchema, depth = 0): unknown {
    if (this.chance(8)) return null;
    switch (field.shape) {
      case 'list':
        return this.#list(field, depth);
      case 'map':
        return this.#map(() => this.#one(field, depth));
      case 'mapOfLists':
        return this.#map(() => this.#list(field, depth));
      default:
        return this.#one(field, depth);
    }
  }
  /** An object of the type, each field there or not. */
  message(typeName: string, depth = 0): Record<string, unknown> {
    const type = builtinSchema().type(typeName);
    if (!type) return {};
    const present = type.fields.filter(() => this.chance(depth === 0 ? 70 : 45));
    return Object.fromEntries(present.map((field) => [field.name, this.value(field, depth + 1)]));
  }

  #list(field: FieldSchema, depth: number): unknown[] {
    const length = this.chance(3) && field.type !== 'message' ? hugeList : this.#rng.int(4);
    return Array.from({ length }, () => (this.chance(10) ? null : this.#one(field, depth)));
  }
  #map(value: () => unknown): Record<string, unknown> {
    const entries = Array.from({ length: this.#rng.int(4) }, () => [this.text(), this.chance(10) ? null : value()] as const);
    return Object.fromEntries(entries);
  }
  #one(field: FieldSchema, depth: number): unknown {
    switch (field.type) {
      case 'message':
        return depth >= depthMax ? {} : this.message(field.ref ?? '', depth);
      case 'string':
        return field.enum && this.chance(60) ? this.pick(field.enum) : this.text();
      case 'bool':
        return this.chance(50);
      case 'int32':
      case 'uint32':
        return this.pick(int32);
      case 'int64':
      case 'uint64':
        return this.pick(int64);
      case 'float':
      case 'double':
        return this.pick([0, -1.5, 1e300]);
      case 'bytes':
        return this.pick(['', 'AA==', 'AAECAwQF', 'Y2VydGlmaWNhdGU=']);
      case 'time':
        return this.pick(times);
      case 'microTime':
        return this.pick(times).replace('Z', '.000001Z');
      case 'quantity':
        return this.pick(quantities);
      case 'intOrString':
        return this.chance(50) ? this.pick(int32) : this.text();
      case 'schemaOrBool':
        return this.chance(50);
      default:
        return this.pick(others);
    }
  }
}

export const typeOf = (group: string, version: string, kind: string): TypeSchema | undefined =>
  builtinSchema().kind(group, version, kind);
