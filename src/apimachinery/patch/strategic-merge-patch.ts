// Strategic merge patch (k8s.io/apimachinery/pkg/util/strategicpatch; sig-api-machinery/strategic-merge-patch.md): a merge patch that knows
// which lists merge and by which key, with directives: $patch, $retainKeys, $setElementOrder/<list>, $deleteFromPrimitiveList/<list>.
import { own, setOwn } from '#utils';
import { badRequest, plainError } from '../errors/index.ts';
import type { FieldSchema, SchemaTable, TypeSchema } from '../schema/index.ts';
import { isObject, type Json, type JsonObject, jsonTypeName, withoutNulls } from './json.ts';
import { badDeleteList, badElementOrder, badRetainKeys, unknownDirective, unknownField, wrongType } from './strategic-errors.ts';
import { arrange, checkOrder, directive, itemKind, mergeItems, mergeScalars } from './strategic-lists.ts';

const retainKeys = '$retainKeys';
const elementOrder = '$setElementOrder';
const deleteFromList = '$deleteFromPrimitiveList';

/** What is known of an object: its declared fields, or that all its values are alike, or nothing (undefined). */
type Context = { type: TypeSchema } | { values: Context | undefined } | undefined;

/** How one field merges. */
interface Strategy {
  context: Context;
  /** 'merge' or 'replace'; '' where the schema says nothing: objects merge, lists are replaced. */
  patch: string;
  mergeKey: string;
}

const plainStrategy: Strategy = { context: undefined, patch: '', mergeKey: '' };

class StrategicMerge {
  readonly #table: SchemaTable;

  constructor(table: SchemaTable) {
    this.#table = table;
  }

  #contextOf(field: FieldSchema): Context {
    const type = field.type === 'message' && field.ref !== undefined ? this.#table.type(field.ref) : undefined;
    const value: Context = type === undefined || type.fields.length === 0 ? undefined : { type };
    return field.shape === 'map' || field.shape === 'mapOfLists' ? { values: value } : value;
  }

  #strategy(context: Context, key: string): Strategy {
    if (context === undefined) return plainStrategy;
    if ('values' in context) return { ...plainStrategy, context: context.values };
    const field = context.type.fields.find((one) => one.name === key);
    if (field === undefined) throw unknownField(context.type.name, key);
    const patch = (field.patchStrategy ?? '').split(',').find((one) => one !== 'retainKeys') ?? '';
    return { context: this.#contextOf(field), patch, mergeKey: field.patchMergeKey ?? '' };
  }

  object(original: JsonObject, patch: JsonObject, context: Context): JsonObject {
    const wanted = own(patch, directive);
    if (wanted !== undefined) return wholeObject(wanted, patch);
    const out = retained(original, patch);
    const { [retainKeys]: _, ...rest } = patch;
    for (const key of Object.keys(rest)) if (key.startsWith(elementOrder)) this.#order(out, rest, key, context);
    for (const [key, value] of Object.entries(rest)) {
      if (key.startsWith(deleteFromList)) this.#deleteValues(out, listName(key, deleteFromList), value);
      else this.#field(out, key, value, context);
    }
    return out;
  }

  #field(out: JsonObject, key: string, value: Json, context: Context): void {
    if (value === null) {
      delete out[key];
      return;
    }
    const current = own(out, key);
    if (isObject(current) && isObject(value)) {
      const strategy = this.#strategy(context, key);
      setOwn(out, key, strategy.patch === 'replace' ? value : this.object(current, value, strategy.context));
    } else if (Array.isArray(current) && Array.isArray(value)) {
      setOwn(out, key, this.#list(current, value, this.#strategy(context, key)));
    } else {
      const fresh = withoutDirectives(withoutNulls(value));
      if (fresh === undefined) delete out[key];
      else setOwn(out, key, fresh);
    }
  }

  #list(original: readonly Json[], patch: readonly Json[], strategy: Strategy): readonly Json[] {
    if (strategy.patch !== 'merge') return patch;
    if (original.length === 0 && patch.length === 0) return original;
    if (itemKind(original, patch) !== 'map') return mergeScalars(original, patch);
    if (strategy.mergeKey === '') throw plainError('cannot merge lists without merge key');
    return mergeItems(original, patch, strategy.mergeKey, (one, other) => this.object(one, other, strategy.context));
  }

  #deleteValues(out: JsonObject, key: string, values: Json): void {
    const current = own(out, key);
    if (values === null) delete out[key];
    else if (Array.isArray(current) && Array.isArray(values)) {
      const gone = new Set<Json>(values);
      setOwn(
        out,
        key,
        current.filter((item) => !gone.has(item)),
      );
    }
  }

  /** Merges the list a $setElementOrder names, arranges it, and takes both out of the rest of the patch. */
  #order(out: JsonObject, rest: JsonObject, directiveKey: string, context: Context): void {
    const order = rest[directiveKey];
    delete rest[directiveKey];
    if (!Array.isArray(order)) throw wrongType([], order);
    const key = listName(directiveKey, elementOrder);
    const original = own(out, key);
    const patch = own(rest, key);
    if (original !== undefined && !Array.isArray(original)) throw wrongType([], original);
    if (patch !== undefined && !Array.isArray(patch)) throw wrongType([], patch);
    const strategy = this.#strategy(context, key);
    checkOrder(patch ?? [], order, strategy.mergeKey);
    const merged = this.#mergedForOrder(original, patch, strategy);
    if (merged === undefined) return;
    itemKind(original ?? [], patch ?? []);
    setOwn(out, key, arrange(merged, order, original ?? [], strategy.mergeKey));
    delete rest[key];
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
  const { [directive]: _, ...value } = patch;
  return value;
}

// What $retainKeys keeps of the original: it must name every key the patch sets.
function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const keys = own(patch, retainKeys);
  if (keys === undefined) return { ...original };
  if (!Array.isArray(keys)) throw badRetainKeys();
  const named = new Set<Json>(keys);
  for (const [key, value] of Object.entries(patch)) {
    const isDirective = key === retainKeys || key.startsWith(deleteFromList) || key.startsWith(elementOrder);
    if (value !== null && !isDirective && !named.has(key)) throw badRetainKeys();
  }
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(original)) if (named.has(key)) setOwn(out, key, value);
  return out;
}

// Objects that carry a directive have nothing to act on where the value is new: they go. undefined: the value itself goes.
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, directive)) return undefined;
  const out: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) {
    const kept = withoutDirectives(inner);
    if (kept !== undefined) setOwn(out, key, kept);
  }
  return out;
}

/**
 * Applies a strategic merge patch to an object of the type. Throws a StatusError: 400 for a malformed patch or directive, 500 for one that
 * does not fit the lists it meets.
 */
export function strategicMergePatch(table: SchemaTable, typeName: string, original: Json, patch: Json): JsonObject {
  if (!isObject(patch)) {
    if (patch === null) return isObject(original) ? original : {};
    throw badRequest(`json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`);
  }
  const type = table.type(typeName);
  return new StrategicMerge(table).object(isObject(original) ? original : {}, patch, type === undefined ? undefined : { type });
}
