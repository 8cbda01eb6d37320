// Reads the compact notation of src/api/schema.gen.json (written by spec/lib/schema-table.mjs): one string per field,
//   name number type [-flags] [ref=] [list=] [map=] [patch=] [enum=] [go=] [default=]
// where a type is `[]`/`{}`/`{}[]` before a scalar or before a type's name ('.Name' in the same package), the flags are
// * pointer, o omitempty, z omitzero, ! required, 0 zero default, w wrapped; `= number type` inlines a struct; `@{...}` describes the type.
// Spaces in values of `enum` are written %20.
import { assert } from '#utils';
import type { FieldSchema, ScalarType, SpecialType, TypeSchema } from './types.ts';

const plainTypes = new Set<string>([
  ...['string', 'bytes', 'bool', 'int32', 'int64', 'uint32', 'uint64', 'float', 'double', 'any'],
  ...['time', 'microTime', 'quantity', 'intOrString', 'rawExtension', 'fieldsV1'],
  ...['json', 'schemaOrArray', 'schemaOrBool', 'schemaOrStringArray'],
]);

/** Go's names of types that are not the Go names of their values, for messages. */
const goNames: Partial<Record<FieldSchema['type'], string>> = {
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  quantity: 'resource.Quantity',
  intOrString: 'intstr.IntOrString',
  rawExtension: 'runtime.RawExtension',
  fieldsV1: 'v1.FieldsV1',
  json: 'v1.JSON',
  schemaOrArray: 'v1.JSONSchemaPropsOrArray',
  schemaOrBool: 'v1.JSONSchemaPropsOrBool',
  schemaOrStringArray: 'v1.JSONSchemaPropsOrStringArray',
  bytes: '[]uint8',
  float: 'float32',
  double: 'float64',
  any: 'interface {}',
};

/** The short name of a type: `v1.PodSpec` for `io.k8s.api.core.v1.PodSpec`. */
export const goNameOf = (typeName: string): string =>
  typeName.slice(typeName.lastIndexOf('.', typeName.lastIndexOf('.') - 1) + 1);

const packageOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));

/** One type; `lookup` finds the types it inlines. */
export function parseType(name: string, lines: readonly string[], lookup: (name: string) => TypeSchema | undefined): TypeSchema {
  const type: TypeSchema = { name, fields: [] };
  const home = packageOf(name);
  const absolute = (ref: string): string => (ref.startsWith('.') ? home + ref : ref);
  for (const line of lines) {
    if (line.startsWith('@')) Object.assign(type, JSON.parse(line.slice(1)));
    else if (line.startsWith('= ')) inline(type, line, absolute, lookup);
    else type.fields.push(parseField(line, absolute));
  }
  return type;
}

function inline(
  type: TypeSchema,
  line: string,
  absolute: (ref: string) => string,
  lookup: (name: string) => TypeSchema | undefined,
): void {
  const [, number = '', ref = ''] = line.split(' ');
  const inner = lookup(absolute(ref));
  assert(inner !== undefined, `inlined type ${ref} is in the table`);
  type.inlined = [...(type.inlined ?? []), { number: Number(number), ref: inner.name }];
  for (const field of inner.fields) type.fields.push({ ...field, inlined: Number(number) });
}

const shapePattern = /^(\{\}\[\]|\{\}|\[\])?(.+)$/;
const shapes = { '[]': 'list', '{}': 'map', '{}[]': 'mapOfLists' } as const;

function parseField(line: string, absolute: (ref: string) => string): FieldSchema {
  const defaultAt = line.indexOf(' default=');
  const [name = '', number = '', typeWord = '', ...words] = (defaultAt < 0 ? line : line.slice(0, defaultAt)).split(' ');
  const [, prefix, value = ''] = shapePattern.exec(typeWord) ?? [];
  const field: FieldSchema = { name, number: Number(number), type: 'message' };
  if (plainTypes.has(value)) field.type = value as ScalarType | SpecialType;
  else field.ref = absolute(value);
  if (prefix) field.shape = shapes[prefix as keyof typeof shapes];
  for (const word of words) readWord(field, word, absolute);
  field.goType ??= derivedGoType(field);
  if (defaultAt >= 0) field.default = JSON.parse(line.slice(defaultAt + ' default='.length));
  return field;
}

function readWord(field: FieldSchema, word: string, absolute: (ref: string) => string): void {
  if (word.startsWith('-')) return readFlags(field, word.slice(1));
  const equals = word.indexOf('=');
  const value = word.slice(equals + 1);
  const [first = '', second] = value.split(':');
  switch (word.slice(0, equals)) {
    case 'ref':
      field.ref = absolute(value);
      break;
    case 'list':
      field.listType = first as NonNullable<FieldSchema['listType']>;
      if (second !== undefined) field.listMapKeys = second.split(',');
      break;
    case 'map':
      field.mapType = first as NonNullable<FieldSchema['mapType']>;
      break;
    case 'patch':
      if (first !== '') field.patchStrategy = first;
      if (second !== undefined) field.patchMergeKey = second;
      break;
    case 'enum':
      field.enum = value.replaceAll('%20', ' ').split(',');
      break;
    case 'go':
      field.goType = value;
      break;
    default:
      assert(false, `unknown word ${word} in the schema table`);
  }
}

function readFlags(field: FieldSchema, flags: string): void {
  if (flags.includes('*')) field.pointer = true;
  if (flags.includes('o')) field.omitempty = true;
  if (flags.includes('z')) field.omitzero = true;
  if (flags.includes('!')) field.required = true;
  if (flags.includes('0')) field.zeroDefault = true;
  if (flags.includes('w')) field.wrapped = true;
}

function derivedGoType({ type, ref, shape }: FieldSchema): string {
  const value = type === 'message' ? goNameOf(ref ?? '') : (goNames[type] ?? type);
  if (shape === 'list') return `[]${value}`;
  if (shape === 'map') return `map[string]${value}`;
  return shape === 'mapOfLists' ? `map[string][]${value}` : value;
}
