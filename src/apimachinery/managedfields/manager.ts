// The bookkeeper one endpoint of one kind uses (k8s.io/apimachinery/pkg/util/managedfields, FieldManager; KEP-555).
import { finish, own, type Steps } from '#utils';
import { badRequest, plainError } from '../errors/index.ts';
import { apiVersionOf, type ManagedFieldsEntry, parseApiVersion, type UnknownObject } from '../meta/index.ts';
import type { SchemaTable } from '../schema/index.ts';
import { compareObjects } from './compare.ts';
import { ConflictError, conflictStatus } from './conflict.ts';
import { fieldSetOf } from './collect.ts';
import { difference, emptySet, type FieldPattern, type FieldSet, isEmptySet, setOfPaths, union } from './field-set.ts';
import { isObject, type JsonObject } from './json.ts';
import {
  capUpdaters,
  type Identity,
  identityOf,
  isReset,
  type Managed,
  ManagedFieldsError,
  readManaged,
  writeManaged,
} from './managed.ts';
import { deduced, type Shape, shapesOf, zeroObject } from './shape.ts';
import { ShapeError } from './typed.ts';
import { Updater, type VersionedType } from './updater.ts';
import { problemText, shapeProblems } from './validate.ts';

/** Who writes an object, and when. */
export interface Writer {
  /** '' counts as 'unknown'. */
  manager: string;
  /** RFC 3339, seconds: becomes the entry's time when the writer's fields change. */
  time: string;
  /** The version the request's object is in, e.g. 'apps/v1'. */
  apiVersion: string;
  /** 'status', 'scale', ...; '' or absent for the resource itself. */
  subresource?: string;
}

export interface FieldManagerOptions {
  /** Paths (with everything below) that a write through this endpoint cannot change: they are never owned by it, e.g. [['status']]. */
  resetFields?: readonly (readonly string[])[];
  /** When set, only fields on or below these paths count; '*' stands for any step. */
  onlyFields?: FieldPattern;
  /**
   * The kind in other versions that owners may have written in: the type's name and a conversion from any version. Owners in versions not
   * named here are dropped.
   */
  versions?: Readonly<Record<string, { typeName: string; convert(object: UnknownObject): UnknownObject }>>;
}

/**
 * Keeps `metadata.managedFields`. Objects in are never mutated; objects out share what did not change. Objects are in the writer's
 * version, in the form upstream's encoder writes them. Each is work in steps, because an object may have tens of thousands of fields.
 */
export interface FieldManager {
  create(object: UnknownObject, writer: Writer): Steps<UnknownObject>;
  update(live: UnknownObject, object: UnknownObject, writer: Writer): Steps<UnknownObject>;
  /**
   * Server-side apply; defaults are not applied to the result. `live` undefined: the object does not exist. When nothing changes the
   * result is `live` with its bookkeeping. Throws the 409 conflict, 400 for a patch of another kind, with managedFields, or one that does
   * not fit the schema.
   */
  apply(live: UnknownObject | undefined, patch: UnknownObject, writer: Writer & { force?: boolean }): Steps<UnknownObject>;
}

const stripped: FieldSet = union(
  setOfPaths([['apiVersion'], ['kind'], ['metadata']]),
  setOfPaths(
    [
      'name',
      'namespace',
      'creationTimestamp',
      'selfLink',
      'uid',
      'clusterName',
      'generation',
      'managedFields',
      'resourceVersion',
    ].map((name) => ['metadata', name]),
  ),
);

/** What is left of a set without these; sets come again and again. */
const strippedOf = new WeakMap<FieldSet, FieldSet>();
const withoutStripped = (set: FieldSet): FieldSet => {
  let kept = strippedOf.get(set);
  if (kept === undefined) strippedOf.set(set, (kept = difference(set, stripped)));
  return kept;
};

const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** A copy of the object, with metadata of its own. */
const withManagedFields = (object: UnknownObject, managed: Managed): UnknownObject => {
  // An apply takes away the metadata that nobody states any more.
  const { managedFields: _, ...metadata } = object.metadata ?? {};
  const entries = writeManaged(managed);
  return { ...object, metadata: entries === undefined ? metadata : { ...metadata, managedFields: entries } };
};

const withoutManagedFields = (object: UnknownObject): JsonObject => {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
};

function readOrEmpty(entries: ManagedFieldsEntry[] | undefined): Managed {
  try {
    return readManaged(entries, true);
  } catch (error) {
    if (error instanceof ManagedFieldsError) return new Map();
    throw error;
  }
}

// A request may carry managedFields of its own (kubectl edit, restores); what cannot be read counts as absent.
function liveOrNew(live: UnknownObject, object: UnknownObject, subresource: boolean): Managed {
  const sent = object.metadata?.managedFields;
  if (subresource || sent === live.metadata?.managedFields) return readOrEmpty(live.metadata?.managedFields);
  if (isReset(sent)) return new Map();
  try {
    const managed = readManaged(sent, false);
    if (managed.size > 0) return managed;
  } catch (error) {
    if (!(error instanceof ManagedFieldsError)) throw error;
  }
  return readOrEmpty(live.metadata?.managedFields);
}

const identityFor = (writer: Writer, operation: 'Apply' | 'Update'): Identity => ({
  manager: writer.manager === '' ? 'unknown' : writer.manager,
  operation,
  apiVersion: writer.apiVersion,
  subresource: writer.subresource ?? '',
});

const kindText = (object: UnknownObject): string => {
  const { group, version } = parseApiVersion(object.apiVersion ?? '');
  return `${group}/${version}, Kind=${object.kind ?? ''}`;
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What an applied object calls itself. Names that are no text count as absent. */
const objectText = (object: UnknownObject): string =>
  `${textOf(object.metadata?.namespace)}/${textOf(object.metadata?.name)}; ${kindText(object)}`;

class Manager implements FieldManager {
  readonly #table: SchemaTable;
  readonly #typeName: string;
  readonly #options: FieldManagerOptions;
  readonly #reset: FieldSet;
  readonly #updaters = new Map<string, { updater: Updater; type: VersionedType }>();
  #zero: UnknownObject | undefined;

  constructor(table: SchemaTable, typeName: string, options: FieldManagerOptions) {
    this.#table = table;
    this.#typeName = typeName;
    this.#options = options;
    this.#reset = setOfPaths(options.resetFields ?? []);
  }

  #empty({ apiVersion, kind }: UnknownObject): UnknownObject {
    if (this.#zero === undefined || this.#zero.apiVersion !== apiVersion || this.#zero.kind !== kind) {
      this.#zero = { ...zeroObject(this.#table, this.#typeName), apiVersion, kind, metadata: {} };
    }
    return this.#zero;
  }

  #inVersion(apiVersion: string): { updater: Updater; type: VersionedType } {
    const known = this.#updaters.get(apiVersion);
    if (known !== undefined) return known;
    const shape: Shape = this.#typeName === '' ? deduced : shapesOf(this.#table).of(this.#typeName);
    const type: VersionedType = { apiVersion, shape, convert: (object) => this.#convert(object, apiVersion) };
    const { onlyFields: only } = this.#options;
    const made = {
      type,
      updater: new Updater((version) => this.#typeIn(version, type), { reset: this.#reset, ...(only && { only }) }),
    };
    this.#updaters.set(apiVersion, made);
    return made;
  }

  #convert(object: JsonObject, apiVersion: string): JsonObject {
    if (object.apiVersion === apiVersion) return object;
    const other = own(this.#options.versions ?? {}, apiVersion);
    return other === undefined ? object : other.convert(object as UnknownObject);
  }

  #typeIn(apiVersion: string, self: VersionedType): VersionedType | undefined {
    if (apiVersion === self.apiVersion) return self;
    const other = own(this.#options.versions ?? {}, apiVersion);
    if (other === undefined) return undefined;
    return {
      apiVersion,
      shape: shapesOf(this.#table).of(other.typeName),
      convert: (object) => this.#convert(object, apiVersion),
    };
  }

  create(object: UnknownObject, writer: Writer): Steps<UnknownObject> {
    return this.update(this.#empty(object), object, writer);
  }

  *update(live: UnknownObject, object: UnknownObject, writer: Writer): Steps<UnknownObject> {
    const managed = liveOrNew(live, object, (writer.subresource ?? '') !== '');
    // Existing objects without any bookkeeping stay without until the first apply.
    if (managed.size === 0 && live.metadata?.uid !== undefined) return withManagedFields(object, managed);
    yield;
    try {
      yield* this.#record(live, object, managed, writer);
    } catch (error) {
      // Whose fields they are cannot be told of a list whose items have no keys: the object is written without bookkeeping, as upstream writes it.
      if (!(error instanceof ShapeError)) throw error;
      managed.clear();
    }
    yield;
    return withManagedFields(object, managed);
  }

  *#record(live: UnknownObject, object: UnknownObject, managed: Managed, writer: Writer): Steps<void> {
    const { updater, type } = this.#inVersion(writer.apiVersion);
    const changed = yield* updater.update(type, withoutManagedFields(live), withoutManagedFields(object), managed);
    yield;
    const earned = withoutStripped(changed);
    yield;
    if (!isEmptySet(earned)) {
      const identity = identityFor(writer, 'Update');
      const id = identityOf(identity);
      const before = managed.get(id)?.set ?? emptySet;
      managed.set(id, { ...identity, time: writer.time, set: union(earned, before) });
    }
    capUpdaters(managed);
  }

  *apply(live: UnknownObject | undefined, patch: UnknownObject, writer: Writer & { force?: boolean }): Steps<UnknownObject> {
    this.#checkPatch(patch, writer);
    yield;
    const base = live ?? this.#empty(patch);
    let managed: Managed;
    try {
      managed = readManaged(base.metadata?.managedFields, true);
    } catch (error) {
      if (error instanceof ManagedFieldsError) throw plainError(`failed to decode managed fields: ${error.message}`);
      throw error;
    }
    if (managed.size === 0) yield* this.#record(this.#empty(patch), base, managed, { ...writer, manager: 'before-first-apply' });
    try {
      return yield* this.#applyOver(base, patch, managed, writer);
    } catch (error) {
      if (error instanceof ShapeError) throw plainError(`failed to merge config: ${error.message}`);
      if (!(error instanceof ConflictError)) throw error;
      const { conflicts } = error;
      if (writer.manager !== 'kubectl') throw conflictStatus(conflicts);
      const allowed = this.#lastAppliedSet(base, writer.apiVersion);
      const left = conflicts
        .map(({ owner, set }) => ({ owner, set: difference(set, allowed) }))
        .filter(({ set }) => !isEmptySet(set));
      if (left.length > 0) throw conflictStatus(left);
      return yield* this.#applyOver(base, patch, managed, { ...writer, force: true });
    }
  }

  #checkPatch(patch: UnknownObject, { apiVersion }: Writer): void {
    const { group, version } = parseApiVersion(patch.apiVersion ?? '');
    if (apiVersionOf(group, version) !== apiVersion) throw badRequest(`invalid object type: ${kindText(patch)}`);
    if (patch.metadata?.managedFields !== undefined && patch.metadata.managedFields !== null) {
      throw badRequest('metadata.managedFields must be nil');
    }
    const problems = shapeProblems(this.#inVersion(apiVersion).type.shape, patch);
    if (problems.length > 0)
      throw plainError(`failed to create typed patch object (${objectText(patch)}): ${problemText(problems)}`);
  }

  *#applyOver(
    live: UnknownObject,
    patch: UnknownObject,
    before: Managed,
    writer: Writer & { force?: boolean },
  ): Steps<UnknownObject> {
    const managed: Managed = new Map(before);
    const identity = identityFor(writer, 'Apply');
    const id = identityOf(identity);
    const { updater, type } = this.#inVersion(writer.apiVersion);
    const base = withoutManagedFields(live);
    const merged = yield* updater.apply(type, base, patch, managed, identity, writer.force ?? false);
    const owner = managed.get(id);
    if (owner !== undefined) {
      yield;
      const set = withoutStripped(owner.set);
      if (isEmptySet(set)) managed.delete(id);
      else managed.set(id, { ...owner, set, time: merged === base ? owner.time : writer.time });
    }
    const result = withManagedFields(merged as UnknownObject, managed);
    return writer.manager === 'kubectl' ? refreshLastApplied(result, patch) : result;
  }

  /** What kubectl's client-side apply stated and nobody changed since: kubectl may take it over without force. */
  #lastAppliedSet(live: UnknownObject, apiVersion: string): FieldSet {
    const text = live.metadata?.annotations?.[lastAppliedAnnotation];
    if (text === undefined || text === '') return emptySet;
    try {
      const lastApplied: unknown = JSON.parse(text);
      if (!isObject(lastApplied) || lastApplied.apiVersion !== apiVersion) return emptySet;
      const { shape } = this.#inVersion(apiVersion).type;
      const { added, modified, removed } = compareObjects(shape, lastApplied, live);
      return difference(fieldSetOf(shape, lastApplied), union(union(modified, added), removed));
    } catch (error) {
      if (error instanceof SyntaxError) return emptySet;
      throw error;
    }
  }
}

// Once kubectl applies on the server, the annotation of its old way is kept true, so both ways can be mixed.
function refreshLastApplied(object: UnknownObject, patch: UnknownObject): UnknownObject {
  const annotations = object.metadata.annotations;
  if ((annotations?.[lastAppliedAnnotation] ?? '') === '') return object;
  const { [lastAppliedAnnotation]: _, ...stated } = patch.metadata?.annotations ?? {};
  const metadata = { ...patch.metadata, ...(patch.metadata?.annotations !== undefined && { annotations: stated }) };
  const text = `${JSON.stringify({ ...patch, metadata })}\n`;
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [lastAppliedAnnotation]: text } } };
}

/** The bookkeeper of a kind at one endpoint. `typeName` is looked up in the table; a type that is not there is tracked as untyped JSON. */
export const createFieldManager = (table: SchemaTable, typeName: string, options: FieldManagerOptions = {}): FieldManager =>
  new Manager(table, typeName, options);

/** The operations of a manager without pauses, for small objects. */
export const atOnce = (manager: FieldManager) => ({
  create: (...of: Parameters<FieldManager['create']>) => finish(manager.create(...of)),
  update: (...of: Parameters<FieldManager['update']>) => finish(manager.update(...of)),
  apply: (...of: Parameters<FieldManager['apply']>) => finish(manager.apply(...of)),
});
