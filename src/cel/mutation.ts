// What expressions of mutating policies give, as JSON (k8s.io/apiserver/pkg/cel/mutation; KEP-3962).
import { ForeignValue } from '#apimachinery/managedfields';
import { encodeBase64 } from '#apimachinery/schema';
import {
  CelError,
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
} from './values.ts';

/** Whole numbers beyond it are texts in JSON. */
const exactIntegerMax = BigInt(Number.MAX_SAFE_INTEGER);

/** Types that do not stand where their names say, in upstream's words. */
function misplacedTypes(value: Value, path: string): string[] {
  if (value instanceof ListValue) return value.values().flatMap((item) => misplacedTypes(item, path));
  if (value instanceof MapValue) return [...value.entries.keys()].flatMap((key) => misplacedTypes(value.get(key) ?? null, path));
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

/**
 * Plain JSON of a value; `scalar` says what stands for one that is neither struct, list nor map. Throws `CelError`, with `badKey` for a key
 * that is no text.
 */
function plain(value: Value, scalar: (value: Value) => unknown, badKey: string): unknown {
  if (value instanceof StructValue)
    return Object.fromEntries([...value.fields].map(([name, field]) => [name, plain(field, scalar, badKey)]));
  if (value instanceof ListValue) return value.values().map((item) => plain(item, scalar, badKey));
  if (value instanceof MapValue)
    return Object.fromEntries(
      [...value.entries.keys()].map((key) => {
        if (typeof key !== 'string') throw new CelError(badKey);
        return [key, plain(value.get(key) ?? null, scalar, badKey)];
      }),
    );
  return scalar(value);
}

/** The apply configuration that an expression gives. Throws `CelError` for what is none. */
export function applyConfigurationOf(value: Value): Record<string, unknown> {
  if (!(value instanceof StructValue))
    throw new CelError(`unsupported return type from ApplyConfiguration expression: ${typeNameOf(value)}`);
  checkTypes(value);
  return plain(value, configurationScalar, 'invalid return type: *dynamic.ObjectVal') as Record<string, unknown>;
}

/** What JSON has no form of, and null, which states nothing, are refused by the type they are laid over. */
function configurationScalar(value: Value): unknown {
  if (value === null) return new ForeignValue('structpb.NullValue', '0');
  const given = toJson(value);
  if (given !== undefined) return given;
  return new ForeignValue(typeNameOf(value), printed(value));
}

/** Of what libraries make, quantities and the like know how they are written. */
const printed = (value: Value): string => (value instanceof OpaqueValue ? String(value.content) : typeNameOf(value));

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

/** One operation of a JSON patch. */
export interface PatchOperation {
  op: string;
  path: string;
  from?: string;
  value?: unknown;
}

/** The JSON patch that an expression gives. Throws `CelError` for what is none. */
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
      value: plain(value, patchScalar, `${unmarshalable}unsupported type conversion from 'int' to string`),
    }),
  };
}
