// Every built-in kind, with values made up from the schema table: what is decoded is canonical, and JSON, YAML and protobuf carry it unchanged.
import fc from 'fast-check';
import { builtinSchema } from '#api';
import { decodeProtobuf, encodeProtobuf, formatYaml, parseYaml, supportsProtobuf } from '#apimachinery/codec';
import { apiVersionOf } from '#apimachinery/meta';
import { decode, type FieldSchema, normalize, type SchemaTable } from '#apimachinery/schema';
import { describe, expect, test } from 'vitest';

const table: SchemaTable = builtinSchema();
const depthMax = 5;

const json = fc.oneof(fc.string(), fc.integer(), fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })));
const seconds = fc.integer({ min: -62135596799, max: 253402300799 });
const iso = (value: number): string => new Date(value * 1000).toISOString().slice(0, 19);
const schemas = fc.constantFrom({ type: 'string' }, { description: 'x', nullable: true });

const scalars: Record<string, fc.Arbitrary<unknown>> = {
  string: fc.oneof(fc.string(), fc.string({ unit: 'grapheme' })),
  bytes: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
  bool: fc.boolean(),
  int32: fc.integer(),
  int64: fc.maxSafeInteger(),
  uint32: fc.nat(),
  uint64: fc.maxSafeNat(),
  float: fc.integer(),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
  any: json,
  json,
  rawExtension: json,
  fieldsV1: fc.constantFrom({ 'f:a': {} }, { 'k:{"a":1}': { '.': {} } }),
  time: seconds.map((value) => `${iso(value)}Z`),
  microTime: fc.tuple(seconds, fc.nat(999_999)).map(([value, micros]) => `${iso(value)}.${String(micros).padStart(6, '0')}Z`),
  quantity: fc.constantFrom('0', '1', '100m', '1Gi', '1500M', '12e6', '-1'),
  intOrString: fc.oneof(fc.integer(), fc.string()),
  schemaOrBool: fc.oneof(fc.boolean(), schemas),
  schemaOrArray: fc.oneof(schemas, fc.array(schemas, { minLength: 1 })),
  schemaOrStringArray: fc.oneof(schemas, fc.array(fc.string(), { minLength: 1 })),
};

/** Fields are taken by chance, more rarely the deeper they are. */
function objectOf(typeName: string, depth: number): fc.Arbitrary<Record<string, unknown>> {
  const fields = table.type(typeName)?.fields ?? [];
  const entries: Record<string, fc.Arbitrary<unknown>> = {};
  for (const field of fields) {
    // Protobuf names only the outermost kind.
    const isTypeMeta = field.number === 0 && (field.name === 'kind' || field.name === 'apiVersion');
    if (isTypeMeta || (field.type === 'message' && depth >= depthMax)) continue;
    entries[field.name] = fc.option(fieldOf(field, depth), { nil: undefined, freq: depth < 2 ? 3 : 1 });
  }
  return fc.record(entries);
}

function fieldOf(field: FieldSchema, depth: number): fc.Arbitrary<unknown> {
  const value =
    field.type === 'message'
      ? fc.constant(null).chain(() => objectOf(field.ref ?? '', depth + 1))
      : (scalars[field.type] ?? json);
  // Protobuf cannot tell an empty list from an absent one; JSON can where the encoder writes both.
  const least = field.omitempty ? 0 : 1;
  if (field.shape === 'list') return fc.array(value, { minLength: least, maxLength: 2 });
  if (field.shape === 'map') return fc.dictionary(fc.string(), value, { minKeys: least, maxKeys: 2 });
  return field.shape === 'mapOfLists'
    ? fc.dictionary(fc.string(), fc.array(value, { minLength: 1, maxLength: 2 }), { maxKeys: 2 })
    : value;
}

describe.each(table.kinds())('$group/$version $kind', ({ group, version, kind, type }) => {
  test('round trips', () => {
    const names = table.type(type)?.fields.some(({ name }) => name === 'apiVersion')
      ? { kind, apiVersion: apiVersionOf(group, version) }
      : {};
    fc.assert(
      fc.property(objectOf(type, 0), (made) => {
        const given = JSON.parse(JSON.stringify({ ...made, ...names })) as Record<string, unknown>;
        const { object, strictErrors } = decode(table, type, given, { strict: true });
        const text = JSON.stringify(object);
        expect(strictErrors).toEqual([]);
        expect(JSON.stringify(decode(table, type, object).object)).toBe(text);
        expect(JSON.stringify(normalize(table, type, given))).toBe(text);
        expect(parseYaml(formatYaml(object)).value).toEqual(object);
        if (!supportsProtobuf(table, { group, version, kind }) || !('kind' in names)) return;
        const bytes = encodeProtobuf(table, object);
        const back = decodeProtobuf(table, bytes);
        expect(Buffer.from(encodeProtobuf(table, back)).equals(Buffer.from(bytes))).toBe(true);
        expect(JSON.stringify(back)).toBe(text);
      }),
      { numRuns: 8 },
    );
  });
});
