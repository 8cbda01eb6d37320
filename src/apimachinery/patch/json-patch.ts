// JSON patch (RFC 6902), with the leniencies of the library upstream uses (evanphx/json-patch v4): negative indexes count from the end,
// a missing value is null, and a replace may add. Containers are copied once per patch and then changed in place.
import { deepEqual } from '#utils';
import { badRequest, genericServerResponse, requestEntityTooLarge } from '../errors/index.ts';
import { isObject, type Json, type JsonObject, jsonTypeName, member, put } from './json.ts';
import { copiedBytesMax, jsonPatchOperationsMax } from './limits.ts';

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
  Array.isArray(container) ? container[indexOf(key, container.length)] : member(container, key);

function add(container: Container, key: string, value: Json): void {
  if (!Array.isArray(container)) put(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(indexOf(key, container.length + 1), 0, value);
}

function remove(container: Container, key: string): void {
  if (Array.isArray(container)) container.splice(indexOf(key, container.length), 1);
  else if (Object.hasOwn(container, key)) delete container[key];
  else throw new PatchFailure(`Unable to remove nonexistent key: ${key}: missing value`);
}

function replace(container: Container, key: string, value: Json): void {
  if (Array.isArray(container)) container[indexOf(key, container.length)] = value;
  else put(container, key, value);
}

interface Place {
  container: Container;
  key: string;
}

class Patching {
  private document: Json;
  private readonly own = new WeakSet<object>();
  private copiedBytes = 0;

  constructor(document: Json) {
    this.document = document;
  }

  get result(): Json {
    return this.document;
  }

  /** A container that may be changed in place. */
  private owned(value: Json): Container | undefined {
    if (typeof value !== 'object' || value === null) return undefined;
    if (this.own.has(value)) return value as Container;
    const copy: Container = Array.isArray(value) ? [...value] : { ...value };
    this.own.add(copy);
    return copy;
  }

  private find(path: string, what: string): Place {
    const missing = (): PatchFailure =>
      new PatchFailure(`${what} operation does not apply: doc is missing path: "${path}": missing value`);
    const tokens = path.split('/').slice(1).map(unescapeToken);
    const key = path.includes('/') ? tokens.pop() : undefined;
    let container = this.owned(this.document);
    if (key === undefined || container === undefined) throw missing();
    this.document = container;
    for (const token of tokens) {
      const next = this.owned(read(container, token));
      if (next === undefined) throw missing();
      replace(container, token, next);
      container = next;
    }
    return { container, key };
  }

  private copy(value: Json): Json {
    const text = JSON.stringify(value ?? null);
    this.copiedBytes += text.length;
    if (this.copiedBytes > copiedBytesMax) {
      throw new PatchFailure(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.copiedBytes}, exceeding the limit ${copiedBytesMax}`,
      );
    }
    return value === undefined ? null : (JSON.parse(text) as Json);
  }

  apply(operation: JsonObject): void {
    const value = member(operation, 'value') ?? null;
    const path = (): string => textOf(operation, 'path');
    switch (operation.op) {
      case 'add':
        return this.at(path(), 'add', (place) => add(place.container, place.key, value));
      case 'remove':
        return this.at(path(), 'remove', (place) => remove(place.container, place.key));
      case 'replace':
        if (path() === '') return this.replaceAll(value);
        return this.at(path(), 'replace', (place) => replace(place.container, place.key, value));
      case 'move':
        return this.move(textOf(operation, 'from'), path);
      case 'copy':
        return this.at(textOf(operation, 'from'), 'copy', ({ container, key }) => {
          const copied = this.copy(read(container, key));
          this.at(path(), 'copy', (place) => add(place.container, place.key, copied));
        });
      case 'test':
        return this.test(path(), value);
      default:
        throw new PatchFailure(`Unexpected kind: ${typeof operation.op === 'string' ? operation.op : 'unknown'}`);
    }
  }

  private at(path: string, what: string, change: (place: Place) => void): void {
    change(this.find(path, what));
  }

  private move(from: string, path: () => string): void {
    const { container, key } = this.find(from, 'move');
    const value = read(container, key) ?? null;
    remove(container, key);
    this.at(path(), 'move', (place) => add(place.container, place.key, value));
  }

  private replaceAll(value: Json): void {
    if (typeof value !== 'object' || value === null) throw new PatchFailure('replace operation value must be object or array');
    this.document = value;
  }

  private test(path: string, value: Json): void {
    const place = path === '' ? undefined : this.find(path, 'test');
    const current = place === undefined ? this.document : read(place.container, place.key);
    if (!deepEqual(current ?? null, value)) throw new TestFailure(`testing value ${path} failed: test failed`);
  }
}

function textOf(operation: JsonObject, field: 'path' | 'from'): string {
  const text = member(operation, field);
  if (typeof text !== 'string') throw new PatchFailure(`operation missing ${field} field: missing value`);
  return text;
}

/** What a patch makes of a document; else the library's text of why it does not apply, and whether a `test` said no. */
export type PatchOutcome = { result: Json } | { problem: string; testFailed: boolean };

/** Applies the operations of a JSON patch, which nobody has limited or checked yet. */
export function applyOperations(document: Json, operations: readonly object[]): PatchOutcome {
  const patching = new Patching(document);
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
  for (const operation of operations) if (!isObject(operation)) throw misfit(operation, 'handlers.jsonPatchOp');
  const outcome = applyOperations(document, operations as object[]);
  if ('problem' in outcome) throw notApplicable(outcome.problem);
  return outcome.result;
}
