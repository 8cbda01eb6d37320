// `metadata.managedFields` read, kept and written (k8s.io/apimachinery/pkg/util/managedfields, managedfields.go).
import type { ManagedFieldsEntry } from '../meta/index.ts';
import { type FieldSet, readFieldSet, union } from './field-set.ts';
import { isEmptyObject } from './json.ts';
import { updateManagersMax } from './limits.ts';

/** One owner: who, how, through which door, and what. */
export interface Owner {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  subresource: string;
  time: string | undefined;
  set: FieldSet;
}

/** Owners by identity. An applier keeps its identity when it changes the version it applies in; an updater does not. */
export type Managed = Map<string, Owner>;

export type Identity = Pick<Owner, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;

export const identityOf = ({ manager, operation, apiVersion, subresource }: Identity): string =>
  JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);

/** A managedFields list that cannot be read; `message` is upstream's. */
export class ManagedFieldsError extends Error {}

function readEntry(entry: ManagedFieldsEntry, index: number, trusted: boolean): Owner {
  const { operation, apiVersion = '', fieldsType = '', fieldsV1 = {}, manager = '', subresource = '' } = entry;
  if (operation !== 'Apply' && operation !== 'Update') throw new ManagedFieldsError('operation must be `Apply` or `Update`');
  if (apiVersion === '') throw new ManagedFieldsError('apiVersion must not be empty');
  if (fieldsType === '') throw new ManagedFieldsError(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== 'FieldsV1')
    throw new ManagedFieldsError(`invalid fieldsType "${fieldsType}" in managed fields entry ${index}`);
  const set = trusted ? (fieldsV1 as FieldSet) : readFieldSet(fieldsV1);
  if (set === undefined) throw new ManagedFieldsError(`error decoding versioned set of managed fields entry ${index}`);
  return { manager, operation, apiVersion, subresource, time: entry.time, set };
}

/** Reads the list. `trusted`: it was written by this code, its sets are in order. Throws ManagedFieldsError. */
export function readManaged(entries: readonly ManagedFieldsEntry[] | null | undefined, trusted: boolean): Managed {
  const managed: Managed = new Map();
  for (const [index, entry] of (entries ?? []).entries()) {
    const owner = readEntry(entry, index, trusted);
    managed.set(identityOf(owner), owner);
  }
  return managed;
}

const unixSeconds = (time: string | undefined): number => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000));
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const inOrder = (a: Owner, b: Owner): number =>
  byText(a.operation, b.operation) ||
  (a.time === b.time ? 0 : unixSeconds(a.time) - unixSeconds(b.time)) ||
  byText(a.manager, b.manager) ||
  byText(a.apiVersion, b.apiVersion) ||
  byText(a.subresource, b.subresource);

function writeEntry({ manager, operation, apiVersion, time, set, subresource }: Owner): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = manager === '' ? { operation, apiVersion } : { manager, operation, apiVersion };
  if (time !== undefined) entry.time = time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = set;
  if (subresource !== '') entry.subresource = subresource;
  return entry;
}

/** The list as it is stored, or undefined when nobody owns anything. */
export function writeManaged(managed: Managed): ManagedFieldsEntry[] | undefined {
  if (managed.size === 0) return undefined;
  const owners = [...managed.values()];
  if (owners.length > 1) owners.sort(inOrder);
  return owners.map(writeEntry);
}

/** The client asks to forget all owners: an empty list, or one empty entry. */
export function isReset(entries: readonly ManagedFieldsEntry[] | null | undefined): boolean {
  if (entries === undefined || entries === null) return false;
  return entries.length === 0 || (entries.length === 1 && isEmptyObject(entries[0] ?? {}));
}

/** Merges the oldest updaters of each version into one when there are too many. Changes `managed`. */
export function capUpdaters(managed: Managed): void {
  const updaters = [...managed.values()].filter((owner) => owner.operation === 'Update');
  let count = updaters.length;
  if (count <= updateManagersMax) return;
  const age = (a: Owner, b: Owner): number => unixSeconds(a.time) - unixSeconds(b.time) || byText(identityOf(a), identityOf(b));
  const first = new Map<string, Owner>();
  for (const owner of updaters.sort(age)) {
    if (count <= updateManagersMax) return;
    const oldest = first.get(owner.apiVersion);
    if (oldest === undefined) {
      first.set(owner.apiVersion, owner);
      continue;
    }
    const bucket = { ...owner, manager: 'ancient-changes', subresource: '' };
    const key = identityOf(bucket);
    const merged = managed.get(key) ?? oldest;
    if (merged === oldest) managed.delete(identityOf(oldest));
    managed.delete(identityOf(owner));
    managed.set(key, { ...bucket, set: union(owner.set, merged.set) });
    count--;
  }
}
