// The arithmetic of ownership (sigs.k8s.io/structured-merge-diff, merge.Updater): who loses what when an object changes, and what an apply
// takes away from it.
import { deepEqual, type Steps } from '#utils';
import { fieldSetOf } from './collect.ts';
import { type Comparison, compareObjects } from './compare.ts';
import { type Conflict, ConflictError } from './conflict.ts';
import {
  difference,
  differenceWithBelow,
  emptySet,
  type FieldPattern,
  type FieldSet,
  intersection,
  isEmptySet,
  keepMatching,
  union,
} from './field-set.ts';
import type { JsonObject } from './json.ts';
import { type Identity, identityOf, type Managed } from './managed.ts';
import { mergeValues } from './merge.ts';
import { reconcileSet } from './reconcile.ts';
import { removeFields, withNamedParents } from './remove.ts';
import type { Shape } from './shape.ts';

/** A type in one version, and the way there from any version the room was given. */
export interface VersionedType {
  apiVersion: string;
  shape: Shape;
  convert(object: JsonObject): JsonObject;
}

/** What a write through this endpoint may not own. */
export interface Ignored {
  /** These fields and all below. */
  reset: FieldSet;
  /** Where it is set, only fields that match it are owned. */
  only?: FieldPattern;
}

const filter = (set: FieldSet, { reset, only }: Ignored): FieldSet => {
  const kept = differenceWithBelow(set, reset);
  return only === undefined ? kept : keepMatching(kept, only);
};

/** What a write changed: `set` is what it set, `removed` what it took out. */
interface Changes {
  set: FieldSet;
  removed: FieldSet;
}

const changes = ({ added, modified, removed }: Comparison): Changes => ({ set: union(modified, added), removed });

/** Every operation is work in steps: it may pause between two passes over an object or a set. */
export class Updater {
  readonly #ignored: Ignored;
  /** undefined: the version is gone, its owners with it. */
  readonly #typeIn: (apiVersion: string) => VersionedType | undefined;

  constructor(typeIn: (apiVersion: string) => VersionedType | undefined, ignored: Ignored) {
    this.#typeIn = typeIn;
    this.#ignored = ignored;
  }

  *#compare(type: VersionedType, before: JsonObject, after: JsonObject): Steps<Comparison> {
    const [from, to] = [type.convert(before), type.convert(after)];
    yield;
    const { added, modified, removed } = compareObjects(type.shape, from, to);
    yield;
    const ignored = this.#ignored;
    return { added: filter(added, ignored), modified: filter(modified, ignored), removed: filter(removed, ignored) };
  }

  /**
   * Takes from every owner but `writer` what changed. Changes `managed`; returns what changed in the writer's version. Throws
   * ConflictError unless `force`.
   */
  *#takeFromOthers(
    type: VersionedType,
    before: JsonObject,
    after: JsonObject,
    managed: Managed,
    writer: string,
    force: boolean,
  ): Steps<Changes> {
    const own = changes(yield* this.#compare(type, before, after));
    const comparisons = new Map([[type.apiVersion, own]]);
    const conflicts: Conflict[] = [];
    const left = new Map<string, FieldSet>();
    for (const [id, owner] of managed) {
      if (id === writer) continue;
      let comparison = comparisons.get(owner.apiVersion);
      if (comparison === undefined) {
        const ownerType = this.#typeIn(owner.apiVersion);
        if (ownerType === undefined) {
          left.set(id, emptySet);
          continue;
        }
        comparison = changes(yield* this.#compare(ownerType, before, after));
        comparisons.set(owner.apiVersion, comparison);
      }
      yield;
      const lost = intersection(owner.set, comparison.set);
      if (!isEmptySet(lost)) conflicts.push({ owner, set: lost });
      yield;
      const kept = difference(owner.set, lost);
      yield;
      const rest = difference(kept, comparison.removed);
      if (rest !== owner.set) left.set(id, rest);
    }
    if (!force && conflicts.length > 0) throw new ConflictError(conflicts);
    for (const [id, set] of left) {
      const owner = managed.get(id);
      if (owner !== undefined) managed.set(id, { ...owner, set });
    }
    for (const [id, owner] of managed) if (isEmptySet(owner.set)) managed.delete(id);
    return own;
  }

  /** Puts every owner's set in terms of today's type, and drops owners in versions that are gone. Changes `managed`. */
  *#reconcile(managed: Managed): Steps<void> {
    for (const [id, owner] of managed) {
      yield;
      const type = this.#typeIn(owner.apiVersion);
      const set = type === undefined ? owner.set : reconcileSet(type.shape, owner.set);
      if (type === undefined) managed.delete(id);
      else if (set !== owner.set) managed.set(id, { ...owner, set });
    }
  }

  /** A plain write: others lose what changed. Changes `managed`; returns the set the write itself earns. */
  *update(type: VersionedType, before: JsonObject, after: JsonObject, managed: Managed): Steps<FieldSet> {
    yield* this.#reconcile(managed);
    const { set } = yield* this.#takeFromOthers(type, before, after, managed, '', true);
    return set;
  }

  /** An apply. Changes `managed`; returns the merged object. Throws ConflictError, ShapeError. */
  *apply(
    type: VersionedType,
    live: JsonObject,
    config: JsonObject,
    managed: Managed,
    applier: Identity,
    force: boolean,
  ): Steps<JsonObject> {
    yield* this.#reconcile(managed);
    const id = identityOf(applier);
    const merged = mergeValues(type.shape, live, config) as JsonObject;
    yield;
    const last = managed.get(id);
    const set = filter(fieldSetOf(type.shape, config), this.#ignored);
    managed.set(id, { ...applier, set, time: last?.time });
    yield;
    // Who states again all that he stated takes nothing out.
    const statesAll = last !== undefined && last.apiVersion === applier.apiVersion && isEmptySet(difference(last.set, set));
    const pruned =
      last === undefined || isEmptySet(last.set) || statesAll
        ? merged
        : yield* this.#prune(type, merged, managed, last.apiVersion, last.set);
    yield;
    yield* this.#takeFromOthers(type, live, pruned, managed, id, force);
    yield;
    return deepEqual(live, pruned) ? live : pruned;
  }

  /** Takes out what the applier stated last time and nobody states now. */
  *#prune(type: VersionedType, merged: JsonObject, managed: Managed, lastVersion: string, last: FieldSet): Steps<JsonObject> {
    const lastType = this.#typeIn(lastVersion);
    if (lastType === undefined) return merged;
    const whole = lastType.convert(merged);
    const stated = withNamedParents(lastType.shape, last);
    yield;
    let pruned = removeFields(lastType.shape, whole, stated);
    yield;
    pruned = yield* this.#addBackOwned(lastType, whole, pruned, managed);
    yield;
    const before = named(lastType.shape, whole);
    yield;
    const gone = difference(before, named(lastType.shape, pruned));
    yield;
    return type.convert(removeFields(lastType.shape, whole, intersection(gone, stated)));
  }

  *#addBackOwned(lastType: VersionedType, whole: JsonObject, pruned: JsonObject, managed: Managed): Steps<JsonObject> {
    const byVersion = new Map<string, FieldSet>([[lastType.apiVersion, emptySet]]);
    for (const { apiVersion, set } of managed.values()) {
      byVersion.set(apiVersion, union(byVersion.get(apiVersion) ?? emptySet, set));
      yield;
    }
    let kept = pruned;
    for (const [apiVersion, set] of byVersion) {
      const type = apiVersion === lastType.apiVersion ? lastType : this.#typeIn(apiVersion);
      if (type === undefined || isEmptySet(set)) continue;
      const all = type.convert(whole);
      const stays = named(type.shape, type.convert(kept));
      yield;
      const keep = union(stays, withNamedParents(type.shape, set));
      yield;
      const goes = difference(named(type.shape, all), keep);
      yield;
      kept = lastType.convert(removeFields(type.shape, all, goes));
      yield;
    }
    return kept;
  }
}

const named = (shape: Shape, object: JsonObject): FieldSet => withNamedParents(shape, fieldSetOf(shape, object));
