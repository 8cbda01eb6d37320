// What expressions of mutating policies give, as JSON (k8s.io/apiserver/pkg/cel/mutation; KEP-3962).
import { ForeignValue } from '#apimachinery/managedfields';
import { encodeBase64 } from '#apimachinery/schema';
import {
  ListValue,
  MapValue,
  OpaqueValue,
  Optional,
  ObjectValue,
  StructValue,
  toJson,
  typeNameOf,
  Uint,
  type Value,
} from '../values/values.ts';
import { CelError } from '../errors.ts';
import { Duration, Timestamp } from '../values/times.ts';

/** Whole numbers beyond it are texts in JSON. */
const exactIntegerMax = BigInt(Number.MAX_SAFE_INTEGER);

/** Types that do not stand where their names say, in upstream's words. */
function misplacedTypes(value: Value, path: string): string[] {
  if (value instanceof ListValue) return value.values().flatMap((item) => misplacedTypes(item, path));
  if (value instanceof MapValue) return value.keys.flatMap((key) => misplacedTypes(value.get(key) ?? null, path));
  if (!(value instanceof StructValue)) return [];
  const own =
    value.type === path
      ? []
      : [
          `unexpected type name ${JSON.stringify(value.type)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`,
        ];
  return [...own, ...[...value.fields].flatMap(([name, field]) => misplacedTypes(field, `${path}.${name}`))];
}

/** Throws `CelError` where `Object.a` is not in field `a` of `Object`, and so on. */
function checkTypes(value: StructValue): void {
  const problems = misplacedTypes(value, value.type);
  if (problems.length > 0) throw new CelError(`type mismatch: ${problems.join('\n')}`);
}

/** How values become JSON: what stands for one that is neither struct, list nor map, and for a list or map within another. */
interface Form {
  scalar(value: Value): unknown;
  nested(value: ListValue | MapValue): unknown;
  /** What is said of keys that are no texts. */
  badKey: string;
}

/** Plain JSON of a value. Throws `CelError`. */
function plain(value: Value, form: Form): unknown {
  const item = (one: Value): unknown =>
    one instanceof ListValue || one instanceof MapValue ? form.nested(one) : plain(one, form);
  if (value instanceof StructValue)
    return Object.fromEntries([...value.fields].map(([name, field]) => [name, plain(field, form)]));
  if (value instanceof ListValue) return value.values().map(item);
  if (!(value instanceof MapValue)) return form.scalar(value);
  return Object.fromEntries(
    value.keys.map((key) => {
      if (typeof key !== 'string') throw new CelError(form.badKey);
      return [key, item(value.get(key) ?? null)];
    }),
  );
}

/** The apply configuration that an expression gives. Throws `CelError` when the value is not an apply configuration. */
export function applyConfigurationOf(value: Value): Record<string, unknown> {
  if (!(value instanceof StructValue))
    throw new CelError(`unsupported return type from ApplyConfiguration expression: ${typeNameOf(value)}`);
  checkTypes(value);
  return plain(value, configurationForm) as Record<string, unknown>;
}

/** What JSON has no form of, and null, which states nothing, are refused by the type they are laid over. */
function configurationScalar(value: Value): unknown {
  if (value === null) return new ForeignValue('structpb.NullValue', '0');
  if (value instanceof Uint8Array)
    return new ForeignValue('[]uint8', `[]uint8{${[...value].map((byte) => `0x${byte.toString(16)}`).join(', ')}}`);
  if (value instanceof Duration) return new ForeignValue('time.Duration', String(value.ns));
  if (value instanceof Timestamp) return new ForeignValue('time.Time', goDate(value));
  const given = toJson(value);
  if (given !== undefined) return given;
  return new ForeignValue(typeNameOf(value), value instanceof OpaqueValue ? String(value.content) : typeNameOf(value));
}

/** As Go writes a time in its own syntax. */
function goDate({ ns }: Timestamp): string {
  const time = new Date(Number(ns / 1_000_000n));
  const month = time.toLocaleString('en-US', { month: 'long', timeZone: 'UTC' });
  const clock = [time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds(), ns % 1_000_000_000n].join(', ');
  return `time.Date(${time.getUTCFullYear()}, time.${month}, ${time.getUTCDate()}, ${clock}, time.UTC)`;
}

const goValue = (value: Value): string => (typeof value === 'string' ? JSON.stringify(value) : String(toJson(value)));

/** Upstream does not unwrap what an expression nests: it fits no type either. */
function nestedForeign(value: ListValue | MapValue): unknown {
  if (!value.isMade) return plain(value, configurationForm);
  if (value instanceof ListValue) return new ForeignValue('[]ref.Val', `[]ref.Val{${value.values().map(goValue).join(', ')}}`);
  const entries = value.keys.map((key) => `${JSON.stringify(key)}:${goValue(value.get(key) ?? null)}`);
  return new ForeignValue('map[ref.Val]ref.Val', `map[ref.Val]ref.Val{${entries.join(', ')}}`);
}

const configurationForm: Form = {
  scalar: configurationScalar,
  nested: nestedForeign,
  badKey: 'invalid return type: *dynamic.ObjectVal',
};

const unmarshalable = 'JSONPath valueExpression evaluated to a type that could not marshal to JSON: ';

function patchScalar(value: Value): unknown {
  if (value instanceof Uint8Array) return encodeBase64(value);
  const whole = value instanceof Uint ? value.value : value;
  if (typeof whole === 'bigint' && (whole > exactIntegerMax || whole < -exactIntegerMax)) return String(whole);
  const given = value instanceof OpaqueValue ? undefined : toJson(value);
  if (given !== undefined || value instanceof Optional || value instanceof ObjectValue) return given ?? null;
  const name = typeNameOf(value).replace(/^.*\./, '');
  throw new CelError(`${unmarshalable}type conversion error from '${name}' to '*structpb.Value'`);
}

const patchForm: Form = {
  scalar: patchScalar,
  nested: (value) => plain(value, patchForm),
  badKey: `${unmarshalable}unsupported type conversion from 'int' to string`,
};

/** One operation of a JSON patch. */
export interface PatchOperation {
  op: string;
  path: string;
  from?: string;
  value?: unknown;
}

/** The JSON patch that an expression gives. Throws `CelError` when the value is not a JSON patch. */
export function jsonPatchOf(value: Value): PatchOperation[] {
  if (!(value instanceof ListValue)) throw new CelError('type mismatch: JSONPatchType.expression should evaluate to array');
  return value.values().map(operationOf);
}

function operationOf(item: Value): PatchOperation {
  if (!(item instanceof StructValue))
    throw new CelError('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch');
  const text = (name: string): string => (item.fields.get(name) as string | undefined) ?? '';
  const value = item.fields.get('value');
  if (value instanceof StructValue) checkTypes(value);
  const from = text('from');
  return {
    op: text('op'),
    path: text('path'),
    ...(from !== '' && { from }),
    ...(value !== undefined && {
      value: plain(value, patchForm),
    }),
  };
}
