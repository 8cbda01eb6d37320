// JSON patch (RFC 6902), with the leniencies of the library upstream uses (evanphx/json-patch v4): negative indexes count from the end,
// a missing value is null, and a replace may add. Containers are copied once per patch and then changed in place.
import { deepEqual, own, setOwn } from '#utils';
import { badRequest, genericServerResponse, requestEntityTooLarge } from '../errors/index.ts';
import { isObject, type Json, type JsonObject, jsonTypeName } from './json.ts';
import { copiedBytesMax, jsonPatchOperationsMax, shiftedItemsMax } from './limits.ts';

/** The patch does not apply; clients see a 422. */
class PatchFailure extends Error {}

/** A `test` operation that says no. */
class TestFailure extends PatchFailure {}

type Container = JsonObject | Json[];

const unescapeToken = (token: string): string => token.replace(/~1/g, '/').replace(/~0/g, '~');

/** Go's Atoi, then counted from the end when negative; `length` is the first index that does not exist. */
function indexOf(token: string, length: number): number {
  if (!/^[+-]?[0-9]{1,15}$/.test(token)) throw new PatchFailure(`value was not a proper array index: '${token}'`);
  const number = Number(token);
  const index = number < 0 ? number + length : number;
  if (index < 0 || index >= length) throw new PatchFailure(`Unable to access invalid index: ${number}: invalid index referenced`);
  return index;
}

const read = (container: Container, key: string): Json =>
  Array.isArray(container) ? container[indexOf(key, container.length)] : own(container, key);

/** List items that one patch has pushed along. */
class Shifts {
  #count = 0;

  by(list: readonly Json[], index: number): void {
    this.#count += list.length - index;
    if (this.#count > shiftedItemsMax) throw requestEntityTooLarge(`limit is ${shiftedItemsMax} list items moved`);
  }
}

function add(container: Container, key: string, value: Json, shifts: Shifts): void {
  if (!Array.isArray(container)) setOwn(container, key, value);
  else if (key === '-') container.push(value);
  else {
    const index = indexOf(key, container.length + 1);
    shifts.by(container, index);
    container.splice(index, 0, value);
  }
}

function remove(container: Container, key: string, shifts: Shifts): void {
  if (Array.isArray(container)) {
    const index = indexOf(key, container.length);
    shifts.by(container, index);
    container.splice(index, 1);
  } else if (Object.hasOwn(container, key)) delete container[key];
  else throw new PatchFailure(`Unable to remove nonexistent key: ${key}: missing value`);
}

function replace(container: Container, key: string, value: Json): void {
  if (Array.isArray(container)) container[indexOf(key, container.length)] = value;
  else setOwn(container, key, value);
}

/** Whether there may be something: objects have every key, although with nothing in it. */
function isReadable(container: Container, key: string): boolean {
  if (!Array.isArray(container)) return true;
  try {
    indexOf(key, container.length);
    return true;
  } catch (error) {
    if (error instanceof PatchFailure) return false;
    throw error;
  }
}

/** Says where a failure was. */
function within<T>(where: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof PatchFailure) throw new PatchFailure(`${where}: ${error.message}`);
    throw error;
  }
}

interface Place {
  container: Container;
  key: string;
}

class Patching {
  #document: Json;
  readonly #own = new WeakSet<object>();
  #copiedBytes = 0;
  readonly #shifts = new Shifts();

  /** A `test` against a stated null never holds: how the library sees one that did not come from a decoder. */
  readonly #failsNull: boolean;

  constructor(document: Json, failsNull = false) {
    this.#document = document;
    this.#failsNull = failsNull;
  }

  get result(): Json {
    return this.#document;
  }

  /** A container that may be changed in place. */
  #owned(value: Json): Container | undefined {
    if (typeof value !== 'object' || value === null) return undefined;
    if (this.#own.has(value)) return value as Container;
    const copy: Container = Array.isArray(value) ? [...value] : { ...value };
    this.#own.add(copy);
    return copy;
  }

  /** Where a path leads; `missing` says it with what is not there. Throws `PatchFailure`. */
  #find(path: string, missingText: string): Place {
    const missing = (): PatchFailure => new PatchFailure(`${missingText}: missing value`);
    const tokens = path.split('/').slice(1).map(unescapeToken);
    const key = path.includes('/') ? tokens.pop() : undefined;
    let container = this.#owned(this.#document);
    if (key === undefined || container === undefined) throw missing();
    this.#document = container;
    for (const token of tokens) {
      const next = this.#owned(isReadable(container, token) ? read(container, token) : undefined);
      if (next === undefined) throw missing();
      replace(container, token, next);
      container = next;
    }
    return { container, key };
  }

  #copy(value: Json): Json {
    const text = JSON.stringify(value ?? null);
    this.#copiedBytes += text.length;
    if (this.#copiedBytes > copiedBytesMax) {
      throw new PatchFailure(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copiedBytes}, exceeding the limit ${copiedBytesMax}`,
      );
    }
    return value === undefined ? null : (JSON.parse(text) as Json);
  }

  apply(operation: JsonObject): void {
    const value = own(operation, 'value') ?? null;
    switch (operation.op) {
      case 'add':
        return this.#add(operation, value);
      case 'remove':
        return this.#remove(operation);
      case 'replace':
        return this.#replace(operation, value);
      case 'move':
        return this.#move(operation);
      case 'copy':
        return this.#copyTo(operation);
      case 'test':
        return this.#test(operation, value);
      default:
        throw new PatchFailure(`Unexpected kind: ${typeof operation.op === 'string' ? operation.op : 'unknown'}`);
    }
  }

  #add(operation: JsonObject, value: Json): void {
    const path = textOf(operation, 'path', 'add operation failed to decode path: missing value');
    const { container, key } = this.#find(path, `add operation does not apply: doc is missing path: "${path}"`);
    within(`error in add for path: '${path}'`, () => add(container, key, value, this.#shifts));
  }

  #remove(operation: JsonObject): void {
    const path = textOf(operation, 'path', 'remove operation failed to decode path: missing value');
    const { container, key } = this.#find(path, `remove operation does not apply: doc is missing path: "${path}"`);
    within(`error in remove for path: '${path}'`, () => remove(container, key, this.#shifts));
  }

  #replace(operation: JsonObject, value: Json): void {
    const path = textOf(operation, 'path', `replace operation failed to decode path: ${noPath}`);
    if (path === '') return this.#replaceAll(value);
    const { container, key } = this.#find(path, `replace operation does not apply: doc is missing path: ${path}`);
    if (!isReadable(container, key))
      throw new PatchFailure(`replace operation does not apply: doc is missing key: ${path}: missing value`);
    replace(container, key, value);
  }

  #copyTo(operation: JsonObject): void {
    const from = textOf(operation, 'from', `copy operation failed to decode from: ${noFrom}`);
    const source = this.#find(from, `copy operation does not apply: doc is missing from path: ${from}`);
    const value = within(`error in copy for from: '${from}'`, () => read(source.container, source.key));
    const path = textOf(operation, 'path', 'copy operation failed to decode path: missing value');
    const { container, key } = this.#find(path, `copy operation does not apply: doc is missing destination path: ${path}`);
    const copied = this.#copy(value);
    within('error while adding value during copy', () => add(container, key, copied, this.#shifts));
  }

  #move(operation: JsonObject): void {
    const from = textOf(operation, 'from', `move operation failed to decode from: ${noFrom}`);
    const source = this.#find(from, `move operation does not apply: doc is missing from path: ${from}`);
    const value = within(`error in move for path: '${source.key}'`, () => {
      const moved = read(source.container, source.key) ?? null;
      remove(source.container, source.key, this.#shifts);
      return moved;
    });
    const path = textOf(operation, 'path', `move operation failed to decode path: ${noPath}`);
    const { container, key } = this.#find(path, `move operation does not apply: doc is missing destination path: ${path}`);
    within(`error in move for path: '${path}'`, () => add(container, key, value, this.#shifts));
  }

  #replaceAll(value: Json): void {
    if (typeof value !== 'object' || value === null) throw new PatchFailure('replace operation value must be object or array');
    this.#document = value;
  }

  #test(operation: JsonObject, value: Json): void {
    const path = textOf(operation, 'path', `test operation failed to decode path: ${noPath}`);
    const current = path === '' ? this.#document : this.#tested(path);
    const refused = this.#failsNull && operation['value'] === null;
    if (refused || !deepEqual(current ?? null, value)) throw new TestFailure(`testing value ${path} failed: test failed`);
  }

  #tested(path: string): Json {
    const { container, key } = this.#find(path, `test operation does not apply: is missing path: ${path}`);
    return within(`error in test for path: '${path}'`, () => read(container, key));
  }
}

const noPath = 'operation missing path field: missing value';
const noFrom = 'operation, missing from field: missing value';

function textOf(operation: JsonObject, field: 'path' | 'from', missing: string): string {
  const text = own(operation, field);
  if (typeof text !== 'string') throw new PatchFailure(missing);
  return text;
}

/** What a patch makes of a document; else the library's text of why it does not apply, and whether a `test` said no. */
export type PatchOutcome = { result: Json } | { problem: string; testFailed: boolean };

/** Applies the operations of a JSON patch without a limit to their number. `failsNull`: a `test` against a stated null never holds. */
export function applyOperations(document: Json, operations: readonly object[], failsNull = false): PatchOutcome {
  const patching = new Patching(document, failsNull);
  try {
    for (const operation of operations) patching.apply(operation as JsonObject);
  } catch (error) {
    if (error instanceof PatchFailure) return { problem: error.message, testFailed: error instanceof TestFailure };
    throw error;
  }
  return { result: patching.result };
}

const notApplicable = (text: string): Error =>
  genericServerResponse({ code: 422, method: '', resource: { group: '', resource: '' }, name: '', text });

const misfit = (value: Json, type: string): Error =>
  badRequest(`error decoding patch: json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${type}`);

/**
 * Applies a JSON patch; `operations` is its decoded body. Throws a StatusError: 400 when it is no list of operations, 413 when there are too
 * many, 422 when one does not apply.
 */
export function jsonPatch(document: Json, operations: Json): Json {
  if (operations === null) return document;
  if (!Array.isArray(operations)) throw misfit(operations, '[]handlers.jsonPatchOp');
  if (operations.length > jsonPatchOperationsMax) {
    throw requestEntityTooLarge(
      `The allowed maximum operations in a JSON patch is ${jsonPatchOperationsMax}, got ${operations.length}`,
    );
  }
  for (const operation of operations)
    if (operation !== null && !isObject(operation)) throw misfit(operation, 'handlers.jsonPatchOp');
  // A null is an operation that says nothing, and fails as one.
  const outcome = applyOperations(document, operations.map((operation) => operation ?? {}) as object[]);
  if ('problem' in outcome) throw notApplicable(outcome.problem);
  return outcome.result;
}
