// A change of the world as a record of the journal, and the world as a snapshot.
import { collections } from '../core/index.ts';
import { emptyWorld, type World } from '../model/index.ts';

/** A create request that was done: what it gets when it is sent again. */
export interface RememberedRequest {
  /** Account, operation and token. */
  key: string;
  /** Hash of the request. */
  hash: string;
  /** Milliseconds since the epoch. */
  time: number;
  result: unknown;
}

interface Identified {
  id: string;
}
type Items = Record<string, Identified[]>;

export interface ChangeRecord {
  put?: Items;
  gone?: Record<string, string[]>;
  request?: RememberedRequest;
}
export interface Snapshot {
  world: Items;
  requests: RememberedRequest[];
}

const itemsOf = (world: World, name: keyof World): ReadonlyMap<string, Identified> => world[name];

/** What leads from one world to the other; undefined when they are the same. */
export function recordOf(before: World, after: World, request?: RememberedRequest): ChangeRecord | undefined {
  const put: Items = {};
  const gone: Record<string, string[]> = {};
  for (const name of collections) {
    if (before[name] === after[name]) continue;
    const [old, now] = [itemsOf(before, name), itemsOf(after, name)];
    const changed = [...now.values()].filter((item) => old.get(item.id) !== item);
    const removed = [...old.keys()].filter((id) => !now.has(id));
    if (changed.length > 0) put[name] = changed;
    if (removed.length > 0) gone[name] = removed;
  }
  const record: ChangeRecord = {
    ...(Object.keys(put).length > 0 && { put }),
    ...(Object.keys(gone).length > 0 && { gone }),
    ...(request && { request }),
  };
  return Object.keys(record).length > 0 ? record : undefined;
}

export const snapshotOf = (world: World, requests: Iterable<RememberedRequest>): Snapshot => ({
  world: Object.fromEntries(collections.map((name) => [name, [...itemsOf(world, name).values()]])),
  requests: [...requests],
});

/** The world, and the remembered requests in their order, that a snapshot and the records after it describe. */
export function replay(
  snapshot: Snapshot | undefined,
  records: readonly ChangeRecord[],
): { world: World; requests: RememberedRequest[] } {
  const maps = new Map(collections.map((name) => [name as string, new Map<string, Identified>()]));
  const apply = ({ put = {}, gone = {} }: ChangeRecord): void => {
    for (const [name, items] of Object.entries(put)) for (const item of items) maps.get(name)?.set(item.id, Object.freeze(item));
    for (const [name, ids] of Object.entries(gone)) for (const id of ids) maps.get(name)?.delete(id);
  };
  if (snapshot) apply({ put: snapshot.world });
  for (const record of records) apply(record);
  return {
    // Each map holds what was written from the collection of that name.
    world: { ...emptyWorld, ...(Object.fromEntries(maps) as unknown as World) },
    requests: [...(snapshot?.requests ?? []), ...records.flatMap(({ request }) => request ?? [])],
  };
}
