// Types of CEL (https://github.com/google/cel-spec, "Gradual Type Checking"), and how they print in messages.

export interface ObjectType {
  kind: 'object';
  name: string;
  /** Type of a field by its CEL name; undefined: there is none. Absent: any field, of any type. */
  field?(name: string): Type | undefined;
  /** JSON name of a field, where CEL spells it differently. */
  jsonName?(name: string): string;
}

export type ScalarKind =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'dyn'
  /** What a failed part gives, so that it is told only once. */
  | 'error';

export type Type =
  | { kind: ScalarKind }
  | { kind: 'type' }
  | { kind: 'list'; of: Type }
  | { kind: 'map'; key: Type; of: Type }
  | { kind: 'opaque'; name: string; params: readonly Type[] }
  | { kind: 'param'; name: string }
  | ObjectType;

const scalar = (kind: ScalarKind): Type => ({ kind });

export const bool = scalar('bool');
export const int = scalar('int');
export const uint = scalar('uint');
export const double = scalar('double');
export const string = scalar('string');
export const bytes = scalar('bytes');
export const nullType = scalar('null');
export const timestamp = scalar('timestamp');
export const duration = scalar('duration');
export const dyn = scalar('dyn');
export const errorType = scalar('error');
export const typeType: Type = { kind: 'type' };
export const list = (of: Type): Type => ({ kind: 'list', of });
export const map = (key: Type, of: Type): Type => ({ kind: 'map', key, of });
export const opaque = (name: string, ...params: Type[]): Type => ({ kind: 'opaque', name, params });
export const optional = (of: Type): Type => opaque('optional_type', of);
export const param = (name: string): Type => ({ kind: 'param', name });

export const isDyn = (type: Type): boolean => type.kind === 'dyn' || type.kind === 'error';

/** The type that a declared variable shows: scalars, lists and maps of them; the rest is dyn. */
export function declaredType(type: Type | undefined): Type {
  if (!type) return dyn;
  switch (type.kind) {
    case 'list':
      return list(declaredType(type.of));
    case 'map':
      return map(declaredType(type.key), declaredType(type.of));
    case 'type':
    case 'opaque':
    case 'object':
    case 'param':
    case 'error':
      return dyn;
    default:
      return type;
  }
}

/** The name of a type in error messages of the checker. */
export function typeText(type: Type): string {
  switch (type.kind) {
    case 'list':
      return `list(${typeText(type.of)})`;
    case 'map':
      return `map(${typeText(type.key)}, ${typeText(type.of)})`;
    case 'opaque':
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(typeText).join(', ')})`;
    case 'object':
    case 'param':
      return type.name;
    case 'error':
      return '!error!';
    default:
      return type.kind;
  }
}

/** The name that upstream gives to the type of a whole expression. */
export const declaredText = (type: Type): string => (type.kind === 'null' ? 'null_type' : typeText(type));

/** What the parameters of one call's overload stand for. */
export type Bindings = Map<string, Type>;

export function substitute(type: Type, bindings: Bindings): Type {
  switch (type.kind) {
    case 'param':
      return bindings.get(type.name) ?? dyn;
    case 'list':
      return list(substitute(type.of, bindings));
    case 'map':
      return map(substitute(type.key, bindings), substitute(type.of, bindings));
    case 'opaque':
      return type.params.length === 0 ? type : opaque(type.name, ...type.params.map((one) => substitute(one, bindings)));
    default:
      return type;
  }
}

/** Whether a value of type `from` may stand where `to` is wanted; binds the parameters of `to`. */
export function assignable(from: Type, to: Type, bindings: Bindings): boolean {
  if (to.kind === 'param') return bind(from, to.name, bindings);
  if (isDyn(from) || isDyn(to) || from.kind === 'param') return true;
  if (from.kind === 'null')
    return (
      to.kind === 'null' || to.kind === 'object' || to.kind === 'timestamp' || to.kind === 'duration' || to.kind === 'opaque'
    );
  if (from.kind !== to.kind) return false;
  if (from.kind === 'list' && to.kind === 'list') return assignable(from.of, to.of, bindings);
  if (from.kind === 'map' && to.kind === 'map')
    return assignable(from.key, to.key, bindings) && assignable(from.of, to.of, bindings);
  if (from.kind === 'object' && to.kind === 'object') return from.name === to.name;
  if (from.kind === 'opaque' && to.kind === 'opaque')
    return from.name === to.name && from.params.every((one, index) => assignable(one, to.params[index] ?? dyn, bindings));
  return true;
}

/** The items of an empty list: whatever its neighbours want. */
export const free: Type = scalar('dyn');

const hasFree = (type: Type): boolean =>
  type === free || (type.kind === 'list' && hasFree(type.of)) || (type.kind === 'map' && (hasFree(type.key) || hasFree(type.of)));

function bind(from: Type, name: string, bindings: Bindings): boolean {
  const known = bindings.get(name);
  if (known !== undefined && hasFree(from) && assignable(from, known, new Map())) return true;
  if (known !== undefined && hasFree(known) && assignable(known, from, new Map())) {
    bindings.set(name, from);
    return true;
  }
  if (known === undefined || isDyn(known) || known.kind === 'param') {
    if (known === undefined || !isDyn(from)) bindings.set(name, isDyn(known ?? from) && known ? known : from);
    return true;
  }
  if (isDyn(from)) {
    bindings.set(name, dyn);
    return true;
  }
  if (known.kind === 'null' && assignable(known, from, new Map())) {
    bindings.set(name, from);
    return true;
  }
  return assignable(from, known, bindings);
}

/** The type that covers both branches; dyn when nothing narrower does. */
export function join(left: Type, right: Type): Type {
  if (hasFree(left) && assignable(left, right, new Map())) return right;
  if (assignable(right, left, new Map())) return isDyn(right) ? dyn : left;
  return assignable(left, right, new Map()) ? right : dyn;
}
