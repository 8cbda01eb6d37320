// Strategic merge patch (k8s.io/apimachinery/pkg/util/strategicpatch; sig-api-machinery/strategic-merge-patch.md): a merge patch that knows
// which lists merge and by which key, with directives: $patch, $retainKeys, $setElementOrder/<list>, $deleteFromPrimitiveList/<list>.
import { deepCopy, own, setOwn } from '#utils';
import { badRequest, plainError } from '../errors/index.ts';
import type { FieldSchema, SchemaTable, TypeSchema } from '../schema/index.ts';
import { isObject, type Json, type JsonObject, jsonTypeName } from './json.ts';
import {
  badDeleteList,
  badElementOrder,
  badRetainKeys,
  mergedMap,
  unknownDirective,
  unknownField,
  wrongType,
} from './strategic-errors.ts';
import { arrange, checkOrder, directive, itemKind, mergeItems, mergeScalars } from './strategic-lists.ts';

const retainKeys = '$retainKeys';
const elementOrder = '$setElementOrder';
const deleteFromList = '$deleteFromPrimitiveList';

/** What is known of an object: its declared fields, that it is a map, or that its type has no fields to merge by (`opaque`, upstream's name of it). */
type Context = { type: TypeSchema } | { map: true } | { opaque: string };

/** How one field merges. */
interface Strategy {
  /** Of the field's value, or of each of its items. */
  context: Context;
  /** What the field's items are in Go. */
  itemKind: string;
  isList: boolean;
  /** 'merge' or 'replace'; '' where the schema says nothing: objects merge, lists are replaced. */
  patch: string;
  mergeKey: string;
}

const lastName = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
const scalars: ReadonlySet<string> = new Set(['string', 'bool', 'int32', 'int64', 'uint32', 'uint64']);
const kindOfItem = ({ type, shape }: FieldSchema): string => (shape === 'map' ? 'map' : scalars.has(type) ? type : 'struct');

class StrategicMerge {
  readonly #table: SchemaTable;

  constructor(table: SchemaTable) {
    this.#table = table;
  }

  #contextOf(field: FieldSchema): Context {
    if (field.shape === 'map' || field.shape === 'mapOfLists') return { map: true };
    const type = field.type === 'message' && field.ref !== undefined ? this.#table.type(field.ref) : undefined;
    if (type !== undefined && type.fields.length > 0) return { type };
    return { opaque: lastName(field.goType ?? field.ref ?? field.type) };
  }

  #strategy(context: Context, key: string): Strategy {
    if ('map' in context) throw mergedMap();
    const field = 'type' in context ? context.type.fields.find((one) => one.name === key) : undefined;
    if (field === undefined) throw unknownField('type' in context ? lastName(context.type.name) : context.opaque, key);
    const patch = (field.patchStrategy ?? '').split(',').find((one) => one !== 'retainKeys') ?? '';
    const isList = field.shape === 'list' || field.type === 'bytes';
    return { context: this.#contextOf(field), itemKind: kindOfItem(field), isList, patch, mergeKey: field.patchMergeKey ?? '' };
  }

  #listStrategy(context: Context, key: string): Strategy {
    const strategy = this.#strategy(context, key);
    if (!strategy.isList) throw plainError('expected slice or array type, but got: struct');
    return strategy;
  }

  object(original: JsonObject, patch: JsonObject, context: Context): JsonObject {
    const wanted = own(patch, directive);
    if (wanted !== undefined) return wholeObject(wanted, patch);
    const out = retained(original, patch);
    for (const key of Object.keys(patch)) if (key.startsWith(elementOrder)) this.#order(out, patch, key, context);
    for (const [key, value] of Object.entries(patch)) {
      const deletes = key.startsWith(deleteFromList);
      this.#field(out, deletes ? listName(key, deleteFromList) : key, value, context, deletes);
    }
    return out;
  }

  /** `deletes`: the value lists what is to go. */
  #field(out: JsonObject, key: string, value: Json, context: Context, deletes: boolean): void {
    const current = own(out, key);
    if (value === null) delete out[key];
    else if (isObject(current) && isObject(value)) {
      const strategy = this.#strategy(context, key);
      setOwn(out, key, strategy.patch === 'replace' ? value : this.object(current, value, strategy.context));
    } else if (Array.isArray(current) && Array.isArray(value)) {
      const strategy = this.#listStrategy(context, key);
      setOwn(out, key, deletes ? this.#remaining(current, value, strategy) : this.#list(current, value, strategy));
    } else if (!deletes || (current !== undefined && jsonTypeName(current) === jsonTypeName(value))) {
      dropNulls(value);
      const fresh = withoutDirectives(value);
      if (fresh === undefined) delete out[key];
      else setOwn(out, key, fresh);
    }
  }

  #list(original: readonly Json[], patch: readonly Json[], strategy: Strategy): readonly Json[] {
    if (strategy.patch !== 'merge') return patch;
    if (original.length === 0 && patch.length === 0) return original;
    if (itemKind(original, patch) !== 'map') return mergeScalars(original, patch);
    return this.#items(original, patch, strategy);
  }

  #items(original: readonly Json[], patch: readonly Json[], strategy: Strategy): readonly Json[] {
    if (strategy.mergeKey === '') throw plainError(`cannot merge lists without merge key for ${strategy.itemKind}`);
    return mergeItems(original, patch, strategy.mergeKey, (one, other) => this.object(one, other, strategy.context));
  }

  /** A list without these values. Objects are merged, for upstream only knows scalars that go. */
  #remaining(original: readonly Json[], values: readonly Json[], strategy: Strategy): readonly Json[] {
    if (original.length === 0 && values.length === 0) return original;
    if (itemKind(original, values) === 'map') return this.#items(original, values, strategy);
    const gone = new Set<Json>(values);
    return original.filter((item) => !gone.has(item));
  }

  /** Merges the list a $setElementOrder names, arranges it, and takes both out of the patch. */
  #order(out: JsonObject, patch: JsonObject, directiveKey: string, context: Context): void {
    const order = patch[directiveKey];
    delete patch[directiveKey];
    if (!Array.isArray(order)) throw wrongType([], order);
    const key = listName(directiveKey, elementOrder);
    const original = own(out, key);
    const list = own(patch, key);
    if (original !== undefined && !Array.isArray(original)) throw wrongType([], original);
    if (list !== undefined && !Array.isArray(list)) throw wrongType([], list);
    const strategy = this.#listStrategy(context, key);
    checkOrder(list ?? [], order, strategy.mergeKey);
    const merged = this.#mergedForOrder(original, list, strategy);
    if (merged === undefined) return;
    itemKind(original ?? [], list ?? []);
    setOwn(out, key, arrange(merged, order, original ?? [], strategy.mergeKey));
    delete patch[key];
  }

  #mergedForOrder(original: Json[] | undefined, patch: Json[] | undefined, strategy: Strategy): readonly Json[] | undefined {
    if (original === undefined) return patch === undefined ? undefined : (withoutDirectives(patch) as Json[]);
    return patch === undefined ? original : this.#list(original, patch, strategy);
  }
}

function listName(key: string, prefix: string): string {
  if (key.startsWith(`${prefix}/`)) return key.slice(prefix.length + 1);
  throw prefix === elementOrder ? badElementOrder() : badDeleteList();
}

function wholeObject(wanted: Json, patch: JsonObject): JsonObject {
  if (wanted === 'delete') return {};
  if (wanted !== 'replace') throw unknownDirective(wanted, patch);
  delete patch[directive];
  return patch;
}

// What $retainKeys keeps of the original: it must name every key the patch sets.
function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const keys = own(patch, retainKeys);
  if (keys === undefined) return { ...original };
  delete patch[retainKeys];
  if (!Array.isArray(keys)) throw badRetainKeys();
  const named = new Set<Json>(keys);
  for (const [key, value] of Object.entries(patch)) {
    const isDirective = key.startsWith(deleteFromList) || key.startsWith(elementOrder);
    if (value !== null && !isDirective && !named.has(key)) throw badRetainKeys();
  }
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(original)) if (named.has(key)) setOwn(out, key, value);
  return out;
}

/** Takes the members that are null out of a value that is new: they have nothing to remove. */
function dropNulls(value: Json): void {
  if (Array.isArray(value)) value.forEach(dropNulls);
  else if (isObject(value))
    for (const [key, inner] of Object.entries(value)) {
      if (inner === null) delete value[key];
      else dropNulls(inner);
    }
}

// Objects that carry a directive have nothing to act on where the value is new: they go. undefined: the value itself goes.
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, directive)) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const kept = withoutDirectives(inner);
    if (kept === undefined) delete value[key];
    else if (kept !== inner) setOwn(value, key, kept);
  }
  return value;
}

/** What a strategic merge patch makes. */
interface StrategicMergeResult {
  object: JsonObject;
  /** What the merge left of the patch: directives that were followed are gone, and what it had to say of new values is. Messages show it. */
  left: Json;
}

/**
 * Applies a strategic merge patch to an object of the type. Throws a StatusError: 400 for a malformed patch or directive, 500 for one that
 * does not fit the lists it meets.
 */
export function strategicMergePatch(table: SchemaTable, typeName: string, original: Json, patch: Json): StrategicMergeResult {
  const before = isObject(original) ? original : {};
  if (patch === null) return { object: before, left: {} };
  if (!isObject(patch))
    throw badRequest(`json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`);
  const type = table.type(typeName);
  const left = deepCopy(patch);
  const context = type === undefined ? { opaque: lastName(typeName) } : { type };
  return { object: new StrategicMerge(table).object(before, left, context), left };
}
