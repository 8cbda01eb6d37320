// Managers of an object and of its `scale` view (k8s.io/apimachinery/pkg/util/managedfields, scalehandler.go): who owns the number of replicas
// in one owns it in the other.
import type { ManagedFieldsEntry } from '../meta/index.ts';
import { difference, type FieldSet, isEmptySet, isMember, setOfPaths } from './field-set.ts';
import { type Managed, readManaged, writeManaged } from './managed.ts';

type Entries = readonly ManagedFieldsEntry[] | null | undefined;

/** apiVersion -> where the object keeps the number of replicas in that version; undefined where the version has no scale. */
export type ReplicasPaths = ReadonlyMap<string, readonly string[] | undefined>;

const scaleReplicas = setOfPaths([['spec', 'replicas']]);

function owns(set: FieldSet, path: readonly string[]): boolean {
  let node: FieldSet | undefined = set;
  for (const name of path) node = node?.[`f:${name}`];
  return node !== undefined && isMember(node);
}

/** Of the object's managers those that own the number, as managers of the Scale. */
export function scaleManagers(parent: Entries, paths: ReplicasPaths, scaleApiVersion: string): ManagedFieldsEntry[] | undefined {
  const found: Managed = new Map();
  for (const [id, owner] of readManaged(parent, true)) {
    const path = paths.get(owner.apiVersion);
    if (path && owns(owner.set, path)) found.set(id, { ...owner, apiVersion: scaleApiVersion, set: scaleReplicas });
  }
  return writeManaged(found);
}

/**
 * The object's managers after a write of its Scale: whoever lost the replicas there loses them here, and managers of versions that are no more go. A manager
 * that comes in by the Scale gets no time, as upstream looks for its time among the object's.
 */
export function parentManagers(
  parent: Entries,
  scale: Entries,
  paths: ReplicasPaths,
  apiVersion: string,
): ManagedFieldsEntry[] | undefined {
  const before = readManaged(parent, true);
  const owners = readManaged(scale, true);
  const after: Managed = new Map();
  for (const [id, owner] of before) {
    if (!paths.has(owner.apiVersion)) continue;
    const path = paths.get(owner.apiVersion);
    if (!path || !owns(owner.set, path) || owners.delete(id)) {
      after.set(id, owner);
      continue;
    }
    const set = difference(owner.set, setOfPaths([path]));
    if (!isEmptySet(set)) after.set(id, { ...owner, set });
  }
  const own = paths.get(apiVersion);
  for (const [id, owner] of owners) {
    if (!own || !owns(owner.set, ['spec', 'replicas'])) continue;
    after.set(id, { ...owner, apiVersion, time: before.get(id)?.time, set: setOfPaths([own]) });
  }
  return writeManaged(after);
}
