// The generic registry through the direct transport: what controllers rely on.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeList, KubeObject, UnknownObject } from '#apimachinery/meta';
import type { Transport } from '#apimachinery/transport';
import type { WatchEvent } from '#apimachinery/watch';
import { type ApiServer, createApiServer } from '#apiserver';
import { systemClock, systemRng } from '#host';
import { type EmbeddedStore, openMemoryStore } from '#store';

const pods = { group: '', version: 'v1', resource: 'configmaps', namespace: 'default' };
let store: EmbeddedStore;
let server: ApiServer;
let client: Transport;

beforeEach(async () => {
  store = openMemoryStore();
  server = await createApiServer({ store, clock: systemClock(), rng: systemRng(), deepFreeze: true });
  client = server.transport({ name: 'tester', groups: ['system:masters'] }, 'tester');
});
afterEach(async () => {
  client.close();
  await server.close();
  await store.close();
});

const create = (name: string, more: object = {}): Promise<UnknownObject> =>
  client.call<UnknownObject>({ ...pods, verb: 'create', object: { metadata: { name, ...more }, data: { k: 'v' } } });
const get = (name: string): Promise<UnknownObject> => client.call<UnknownObject>({ ...pods, verb: 'get', name });

async function collect(options: object, count: number): Promise<WatchEvent[]> {
  const stream = await client.watch({ ...pods, options });
  const events: WatchEvent[] = [];
  await new Promise<void>((resolve) => {
    stream.subscribe(
      (event) => {
        events.push(event);
        if (events.length >= count) resolve();
      },
      () => resolve(),
    );
  });
  stream.stop();
  return events;
}

describe('writes', () => {
  it('remove a pod without grace also when somebody who saw its mark removes it first', async () => {
    const target = { ...pods, resource: 'pods' };
    const containers = [{ name: 'c', image: 'c:1' }];
    await client.call({ ...target, verb: 'create', object: { metadata: { name: 'fast' }, spec: { containers } } });
    const remove = (): Promise<UnknownObject> =>
      client.call<UnknownObject>({ ...target, verb: 'delete', name: 'fast', deleteOptions: { gracePeriodSeconds: 0 } });
    const write = store.txn.bind(store);
    let faster: UnknownObject | undefined;
    store.txn = async (request) => {
      store.txn = write;
      const marked = await write(request);
      faster = await remove();
      return marked;
    };
    const uid = (await remove()).metadata.uid;
    expect(uid).toBeDefined();
    expect(faster?.metadata.uid).toBe(uid);
    await expect(remove()).rejects.toThrow('pods "fast" not found');
  });
  it('take a field only once its last applier has let go of it', async () => {
    const apply = (manager: string, data: Record<string, string>): Promise<UnknownObject> =>
      client.call<UnknownObject>({
        ...pods,
        verb: 'patch',
        name: 'shared',
        patch: {
          type: 'application/apply-patch+yaml',
          body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shared' }, data },
        },
        options: { fieldManager: manager },
      });
    await apply('one', { a: '1', x: '1' });
    await apply('two', { a: '1', y: '1' });
    const owned = ({ metadata }: UnknownObject): unknown[] => (metadata.managedFields ?? []).map(({ fieldsV1 }) => fieldsV1);
    // Nothing changes but who owns what.
    const left = await apply('one', { x: '1' });
    expect(left).toMatchObject({ data: { a: '1', x: '1', y: '1' } });
    expect(owned(left)).toEqual([{ 'f:data': { 'f:x': {} } }, { 'f:data': { 'f:a': {}, 'f:y': {} } }]);
    expect(await apply('two', { y: '1' })).toMatchObject({ data: { x: '1', y: '1' } });
    expect((await get('shared'))['data']).toEqual({ x: '1', y: '1' });
  });

  it('answer with what is stored, and conflict on a stale version', async () => {
    const made = await create('a');
    expect(made.metadata).toMatchObject({
      name: 'a',
      namespace: 'default',
      managedFields: [{ manager: 'tester', operation: 'Update' }],
    });
    const changed = await client.call<UnknownObject>({
      ...pods,
      verb: 'update',
      name: 'a',
      object: { ...made, data: { k: 'w' } },
    });
    expect(Number(changed.metadata.resourceVersion)).toBeGreaterThan(Number(made.metadata.resourceVersion));
    await expect(
      client.call({ ...pods, verb: 'update', name: 'a', object: { ...made, data: { k: 'x' } } }),
    ).rejects.toMatchObject({
      status: { code: 409, reason: 'Conflict' },
    });
    await expect(create('a')).rejects.toMatchObject({ status: { reason: 'AlreadyExists' } });
    expect(await get('a')).toEqual(changed);
  });

  it('that change nothing make no new version', async () => {
    const made = await create('a');
    const again = await client.call<UnknownObject>({ ...pods, verb: 'update', name: 'a', object: made });
    expect(again.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  it('let every one of many writers without a version through', async () => {
    await create('a');
    const patches = Array.from({ length: 20 }, (_, at) =>
      client.call({
        ...pods,
        verb: 'patch',
        name: 'a',
        patch: { type: 'application/merge-patch+json', body: { data: { [`k${at}`]: '1' } } },
      }),
    );
    await Promise.all(patches);
    expect(Object.keys((await get('a'))['data'] as object)).toHaveLength(21);
  });

  it('in a dry run are answered but not kept', async () => {
    const answer = await client.call<KubeObject>({
      ...pods,
      verb: 'create',
      object: { metadata: { name: 'dry' } },
      options: { dryRun: true },
    });
    expect(answer.metadata.uid).toBeTruthy();
    await expect(get('dry')).rejects.toMatchObject({ status: { code: 404 } });
  });

  it('make names from generateName', async () => {
    const made = await client.call<KubeObject>({ ...pods, verb: 'create', object: { metadata: { generateName: 'gen-' } } });
    expect(made.metadata.name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });
});

describe('deletes', () => {
  it('wait for finalizers, and happen with the last one', async () => {
    await create('held', { finalizers: ['example.com/hold'] });
    await client.call({ ...pods, verb: 'delete', name: 'held' });
    const held = await get('held');
    expect(held.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, deletionTimestamp: expect.any(String) as string });
    await client.call({
      ...pods,
      verb: 'patch',
      name: 'held',
      patch: { type: 'application/merge-patch+json', body: { metadata: { finalizers: null } } },
    });
    await expect(get('held')).rejects.toMatchObject({ status: { code: 404 } });
  });

  it('respect preconditions', async () => {
    await create('a');
    await expect(
      client.call({ ...pods, verb: 'delete', name: 'a', deleteOptions: { preconditions: { uid: 'other' } } }),
    ).rejects.toMatchObject({
      status: { code: 409 },
    });
  });

  it('turn propagation policies into finalizers', async () => {
    await create('a');
    await client.call({ ...pods, verb: 'delete', name: 'a', deleteOptions: { propagationPolicy: 'Foreground' } });
    expect((await get('a')).metadata.finalizers).toEqual(['foregroundDeletion']);
  });
});

describe('lists', () => {
  it('go on consistently behind a page while others write', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await create(name);
    const first = await client.call<KubeList>({ ...pods, verb: 'list', options: { limit: 2 } });
    expect(first.metadata).toMatchObject({ remainingItemCount: 2, continue: expect.any(String) as string });
    await client.call({ ...pods, verb: 'delete', name: 'c' });
    await create('e');
    const rest = await client.call<KubeList>({
      ...pods,
      verb: 'list',
      options: { limit: 5, continue: first.metadata.continue ?? '' },
    });
    expect(rest.items.map(({ metadata }) => metadata.name)).toEqual(['c', 'd']);
    expect(rest.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it('say Expired with a token to go on when history is gone', async () => {
    for (const name of ['a', 'b', 'c']) await create(name);
    const first = await client.call<KubeList>({ ...pods, verb: 'list', options: { limit: 1 } });
    await create('z');
    await store.compact(store.revision());
    const error = await client
      .call({ ...pods, verb: 'list', options: { continue: first.metadata.continue ?? '' } })
      .then(undefined, (reason: { status: { reason: string; metadata: { continue: string } } }) => reason);
    expect(error).toMatchObject({ status: { reason: 'Expired' } });
    const rest = await client.call<KubeList>({
      ...pods,
      verb: 'list',
      options: { continue: (error as { status: { metadata: { continue: string } } }).status.metadata.continue },
    });
    expect(rest.items.map(({ metadata }) => metadata.name)).toEqual(['b', 'c', 'z']);
  });

  it('wait for a version only so long', async () => {
    await expect(client.call({ ...pods, verb: 'list', options: { resourceVersion: '999999' } })).rejects.toMatchObject({
      status: { code: 504 },
    });
  });
});

describe('watches', () => {
  it('show the state, then every change once and in order', async () => {
    await create('a');
    const seen = collect({ resourceVersion: '0' }, 4);
    const made = await create('b');
    await client.call({ ...pods, verb: 'update', name: 'b', object: { ...made, data: { k: 'w' } } });
    await client.call({ ...pods, verb: 'delete', name: 'a' });
    const events = await seen;
    expect(events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`)).toEqual([
      'ADDED a',
      'ADDED b',
      'MODIFIED b',
      'DELETED a',
    ]);
    const versions = events.slice(1).map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).toEqual([...versions].sort((x, y) => x - y));
  });

  it('resume from a version without missing anything', async () => {
    const made = await create('a');
    await create('b');
    await create('c');
    const events = await collect({ resourceVersion: made.metadata.resourceVersion }, 2);
    expect(events.map(({ object }) => object.metadata.name)).toEqual(['b', 'c']);
  });

  it('see objects come and go with their selector', async () => {
    const made = await create('a', { labels: { on: 'yes' } });
    const seen = collect({ resourceVersion: made.metadata.resourceVersion, labelSelector: 'on=yes' }, 2);
    const label = (value: string | null): Promise<unknown> =>
      client.call({
        ...pods,
        verb: 'patch',
        name: 'a',
        patch: { type: 'application/merge-patch+json', body: { metadata: { labels: { on: value } } } },
      });
    await label(null);
    await label('yes');
    expect((await seen).map(({ type }) => type)).toEqual(['DELETED', 'ADDED']);
  });

  it('end the initial state with a bookmark when asked', async () => {
    await create('a');
    const options = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true };
    const events = await collect(options, 2);
    expect(events[1]).toMatchObject({
      type: 'BOOKMARK',
      object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
  });

  it('hand over frozen objects, the same ones to everybody', async () => {
    await create('a');
    const [one, two] = await Promise.all([get('a'), get('a')]);
    expect(one).toBe(two);
    expect(Object.isFrozen((one['data'] as object) ?? {})).toBe(true);
  });
});
